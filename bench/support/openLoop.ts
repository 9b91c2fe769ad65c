import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LoadRequest } from './load.js'
import type { OpenLoopPlan, OpenLoopResult } from './openLoopPlan.js'
import { quantile } from './statistics.js'

interface Due {
  readonly request: string
  readonly at: number
}

interface Client {
  readonly socket: Socket
  /** Under way. */
  due: Due | undefined
}

const LOOK_MS = 1
const REFUSED = 503

/**
 * Sends requests when they are due, whatever becomes of those before, as many independent clients would: a server that is
 * too slow is not spared. An answer's time counts from when its request was due, also when all clients were busy then.
 */
export async function sendOpenLoop(plan: OpenLoopPlan): Promise<OpenLoopResult> {
  const { url, connections, perSecond, durationMs, patienceMs } = plan
  const requests = plan.requests.map((request) => textOf(new URL(url), request))
  const waiting: Due[] = []
  const idle: Client[] = []
  const good: number[] = []
  const refused: number[] = []
  let due = 0
  const fallDue = (at: number): Due => ({ request: requests[due++ % requests.length] ?? '', at })
  const clients = await Promise.all(Array.from({ length: connections }, () => openClient(url, answered)))
  const startedAt = performance.now()
  const endAt = startedAt + durationMs

  function answered(client: Client, status: number): void {
    const now = performance.now()
    const tookMs = now - (client.due?.at ?? now)
    client.due = undefined
    if (now > endAt) return
    if (status === REFUSED) refused.push(tookMs)
    else if (status >= 200 && status < 300 && tookMs <= patienceMs) good.push(tookMs)
    serve(client, now)
  }

  /** The next request that somebody still waits for. */
  function serve(client: Client, now: number): void {
    if (perSecond === undefined) waiting.push(fallDue(now))
    let next = waiting.shift()
    while (next !== undefined && now - next.at > patienceMs) next = waiting.shift()
    if (next === undefined) {
      idle.push(client)
      return
    }
    client.due = next
    client.socket.write(next.request)
  }

  for (const client of clients) serve(client, startedAt)
  for (let now = performance.now(); now < endAt; now = performance.now()) {
    const untilNow = ((now - startedAt) * (perSecond ?? 0)) / 1_000
    while (perSecond !== undefined && due < untilNow)
      waiting.push(fallDue(startedAt + (due * 1_000) / perSecond))
    for (const client of idle.splice(0, waiting.length)) serve(client, now)
    await sleep(LOOK_MS)
  }
  for (const { socket } of clients) socket.destroy()
  const sorted = { good: Float64Array.from(good).sort(), refused: Float64Array.from(refused).sort() }
  return {
    due,
    good: good.length,
    refused: refused.length,
    goodPerSecond: (good.length * 1_000) / durationMs,
    p50Ms: quantile(sorted.good, 0.5),
    p99Ms: quantile(sorted.good, 0.99),
    refusedP99Ms: refused.length === 0 ? null : quantile(sorted.refused, 0.99),
  }
}

/** Speaks just as much HTTP as it needs: the load must not take more of the machine than the server does. */
async function openClient(url: string, answered: (client: Client, status: number) => void): Promise<Client> {
  const { hostname, port } = new URL(url)
  const client: Client = { socket: connect(Number(port), hostname), due: undefined }
  client.socket.setNoDelay(true).setEncoding('latin1')
  let received = ''
  client.socket.on('data', (part: string) => {
    received += part
    const headEnd = received.indexOf('\r\n\r\n')
    if (headEnd < 0) return
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(received)?.[1] ?? 0)
    if (received.length < headEnd + 4 + length) return
    const status = Number(received.slice(9, 12))
    received = ''
    answered(client, status)
  })
  await once(client.socket, 'connect')
  // A connection that the server ends later answers nothing more, and counts as that.
  client.socket.on('error', () => undefined)
  return client
}

function textOf({ host }: URL, { method, path, body = '' }: LoadRequest): string {
  const length = Buffer.byteLength(body)
  const headers = body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${length}\r\n`
  return `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${headers}\r\n${body}`
}
