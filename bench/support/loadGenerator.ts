// A process of its own that sends requests and times the answers.
import autocannon from 'autocannon'
import { type LoadPlan, type LoadResult, loadPlanSchema } from './load.js'
import { sendPaced } from './pacedLoad.js'
import { createRecorder } from './recorder.js'

/** How soon a run notices that it is over. */
const SAMPLE_MS = 50
const TIMEOUT_SECONDS = 30
/** What a timed run may at most take, so that its own clock ends it and not autocannon's. */
const MARGIN_SECONDS = 5

function send(plan: LoadPlan): Promise<LoadResult> {
  const { url, connections, durationMs } = plan
  const shares = divide(plan)
  return new Promise((resolve, reject) => {
    const recorder = createRecorder(plan)
    let next = 0
    const run = autocannon(
      {
        url,
        connections,
        timeout: TIMEOUT_SECONDS,
        sampleInt: SAMPLE_MS,
        ...(durationMs === null
          ? { amount: plan.requests.length }
          : { duration: durationMs / 1_000 + MARGIN_SECONDS }),
        setupClient: (client) => client.setRequests(shares[next++ % shares.length] ?? []),
      },
      (error) => (error ? reject(error) : resolve(recorder.result())),
    )
    run.on('start', () => {
      recorder.start()
      if (durationMs !== null) setTimeout(() => run.stop(), durationMs)
    })
    run.on('response', (_client, status, _bytes, ms) => recorder.answered(status, ms))
    run.on('reqError', () => recorder.failed())
  })
}

/**
 * Each connection's requests. Sent once, each connection has a share of its own; repeated, each has all of them,
 * beginning elsewhere.
 */
function divide({ requests, connections, durationMs, headers = {} }: LoadPlan): autocannon.Request[][] {
  const ready = requests.map(({ body, ...request }) =>
    body === undefined
      ? { ...request, headers }
      : { ...request, body, headers: { ...headers, 'content-type': 'application/json' } },
  )
  return Array.from({ length: connections }, (_, index) => {
    if (durationMs === null) return ready.filter((_request, at) => at % connections === index)
    const start = Math.floor((index * ready.length) / connections)
    return [...ready.slice(start), ...ready.slice(0, start)].map((request) => ({ ...request }))
  })
}

process.on('message', (message) => {
  const plan = loadPlanSchema.parse(message)
  const result = plan.perSecond === undefined ? send(plan) : sendPaced({ ...plan, perSecond: plan.perSecond })
  void result.then((figures) => process.send?.(figures))
})
process.on('disconnect', () => process.exit(0))
