import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LoadPlan, LoadRequest, LoadResult } from './load.js'
import { createRecorder } from './recorder.js'

/** A plan at a rate of its own. */
export type PacedPlan = LoadPlan & { readonly perSecond: number }

/**
 * Sends evenly spaced requests, whatever becomes of those before. An answer's time counts from when its request was due: one
 * that had to wait for a connection has waited for us.
 */
export async function sendPaced(plan: PacedPlan): Promise<LoadResult> {
  const { connections, perSecond, requests } = plan
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const recorder = createRecorder(plan)
  const count = plan.durationMs === null ? requests.length : Math.floor((plan.durationMs * perSecond) / 1_000)
  const startedAt = performance.now()
  recorder.start()
  const answers: Promise<void>[] = []
  for (let index = 0; index < count; index++) {
    const dueAt = startedAt + (index * 1_000) / perSecond
    const wait = dueAt - performance.now()
    if (wait > 0) await sleep(wait)
    const next = requests[index % requests.length]
    if (next === undefined) break
    answers.push(
      send(plan, next, agent).then(
        (status) => recorder.answered(status, performance.now() - dueAt),
        () => recorder.failed(),
      ),
    )
  }
  await Promise.all(answers)
  agent.destroy()
  return recorder.result()
}

/** Resolves with the status once the whole answer is there. */
function send(plan: LoadPlan, { method, path, body }: LoadRequest, agent: Agent): Promise<number> {
  const headers = { ...plan.headers, ...(body !== undefined && { 'content-type': 'application/json' }) }
  return new Promise((resolve, reject) => {
    const sent = request(`${plan.url}${path}`, { method, headers, agent }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
