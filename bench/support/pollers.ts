// A process of its own with many clients, each of which has one connection and asks for its paths every second, with the
// `ETag` of the answer before.
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type PollPlan, type PollResult, pollPlanSchema } from './pollPlan.js'
import { quantile } from './statistics.js'

const PERIOD_MS = 1_000
const OK = 200
const NOT_MODIFIED = 304

interface Answer {
  readonly status: number
  readonly etag: string | undefined
}

interface Tally {
  readonly latencies: number[]
  unchanged: number
}

/** The clients begin evenly spaced over a second. A poll's time counts from when it was due: whoever had to wait has waited for us. */
async function poll({ url, clients, seconds }: PollPlan): Promise<PollResult> {
  const tallies = new Map<string, Tally>()
  let failed = 0

  async function pollOnce(client: ReturnType<typeof connect>, paths: readonly string[], dueAt: number) {
    let since = dueAt
    for (const path of paths) {
      const answer = await client(path).catch(() => undefined)
      const now = performance.now()
      if (answer?.status === OK || answer?.status === NOT_MODIFIED) {
        const tally = tallyOf(tallies, path)
        tally.latencies.push(now - since)
        if (answer.status === NOT_MODIFIED) tally.unchanged++
      } else {
        failed++
      }
      since = now
    }
  }

  const connected = clients.map((paths) => ({ paths, client: connect(url) }))
  const startedAt = performance.now()
  const polls: Promise<void>[] = []
  for (let second = 0; second < seconds; second++) {
    for (const [index, { client, paths }] of connected.entries()) {
      const dueAt = startedAt + PERIOD_MS * (second + index / connected.length)
      const waitMs = dueAt - performance.now()
      if (waitMs > 0) await sleep(waitMs)
      polls.push(pollOnce(client, paths, dueAt))
    }
  }
  await Promise.all(polls)
  return { failed, routes: [...tallies].map(([route, tally]) => ({ route, ...summaryOf(tally) })) }
}

/** A client with one connection, which remembers the `ETag` of each path. */
function connect(url: string): (path: string) => Promise<Answer> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const etags = new Map<string, string>()
  return async (path) => {
    const etag = etags.get(path)
    const answer = await get(`${url}${path}`, agent, etag === undefined ? {} : { 'if-none-match': etag })
    if (answer.etag !== undefined) etags.set(path, answer.etag)
    return answer
  }
}

function get(url: string, agent: Agent, headers: Record<string, string>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, headers }, (response) => {
      response.resume()
      response.on('end', () => resolve({ status: response.statusCode ?? 0, etag: response.headers.etag }))
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end()
  })
}

function tallyOf(tallies: Map<string, Tally>, path: string): Tally {
  const route = `/${path.split('/')[1] ?? ''}`
  const tally = tallies.get(route) ?? { latencies: [], unchanged: 0 }
  tallies.set(route, tally)
  return tally
}

function summaryOf({ latencies, unchanged }: Tally) {
  const sorted = Float64Array.from(latencies).sort()
  return {
    answered: sorted.length,
    unchanged,
    p50Ms: quantile(sorted, 0.5),
    p99Ms: quantile(sorted, 0.99),
  }
}

process.on('message', (message) => {
  void poll(pollPlanSchema.parse(message)).then((result) => process.send?.(result))
})
process.on('disconnect', () => process.exit(0))
