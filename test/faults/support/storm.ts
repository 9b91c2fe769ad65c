import { setTimeout as sleep } from 'node:timers/promises'
import type { Surroundings } from './bench.js'
import type { Plan, PlannedKill } from './plan.js'
import { LIFE_LIMIT_MS } from './settings.js'

const LOOK_MS = 100

/** One life of the server after the other, while things go wrong. It is over when the last server works on in calm. */
export async function storm(plan: Plan, around: Surroundings, print: (line: string) => void): Promise<void> {
  const { server, lives, callers } = around
  for (const [index, { authorizations, kill }] of plan.lives.entries()) {
    print(`life ${index + 1} of ${plan.lives.length}: ${describe(kill)}`)
    await lives.live(kill, () => callers.begin(authorizations.length))
  }
  print('the last life')
  await server.start()
  callers.begin(plan.last.length)
  await weather(around)
}

/** Waits for the last faults to strike, and sees to it that they are the last. */
async function weather({ node, chainFaults }: Surroundings): Promise<void> {
  const giveUpAt = performance.now() + LIFE_LIMIT_MS
  while (!(node.isCalm() && chainFaults.isCalm()) && performance.now() < giveUpAt) await sleep(LOOK_MS)
  node.calm()
  chainFaults.calm()
}

function describe({ kind, nth, afterMs }: PlannedKill): string {
  const isTimed = kind === 'random' || kind === 'starting'
  return `killed at ${kind}, ${isTimed ? `after ${afterMs} ms` : `number ${nth}`}`
}
