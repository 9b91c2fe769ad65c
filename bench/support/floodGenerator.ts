// A process of its own that floods the server from one address.
import { setTimeout as sleep } from 'node:timers/promises'
import { startFlood, wire } from '../../test/support/flood.js'
import { type FloodPlan, type FloodResult, floodPlanSchema } from './floodPlan.js'

process.on('message', (message) => {
  void flood(floodPlanSchema.parse(message)).then((result) => process.send?.(result))
})
process.on('disconnect', () => process.exit(0))

async function flood({ requests, durationMs, ...plan }: FloodPlan): Promise<FloodResult> {
  const texts = requests.map(({ method, path, body }) => wire(method, path, body))
  let next = 0
  const request = () => texts[next++ % texts.length] ?? ''
  const started = startFlood({ ...plan, request, reconnects: true })
  await sleep(durationMs)
  const answers = Object.fromEntries(started.answers())
  const opened = started.opened()
  started.stop()
  return { answers, opened }
}
