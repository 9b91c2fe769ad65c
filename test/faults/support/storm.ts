import { setTimeout as sleep } from 'node:timers/promises'
import type { Surroundings } from './bench.js'
import type { Callers } from './callers.js'
import type { Plan, PlannedKill } from './plan.js'
import { LIFE_LIMIT_MS } from './settings.js'

const LOOK_MS = 100

/** One life of the server after the other, while things go wrong. It is over when the last server works on in calm. */
export async function storm(plan: Plan, around: Surroundings, print: (line: string) => void): Promise<void> {
  const { server, lives, callers, chainFaults } = around
  for (const [index, { nodes, authorizations, kill }] of plan.lives.entries()) {
    print(`life ${index + 1} of ${plan.lives.length}: ${nodes.length} nodes, ${describe(kill)}`)
    await lives.live(kill, nodes, () => callers.begin(authorizations.length))
  }
  if (plan.resets.includes('down')) await chainFaults.reset()
  print('the last life')
  await server.start(plan.last.nodes)
  callers.begin(plan.last.authorizations.length)
  await weather(around)
  if (plan.resets.includes('up')) {
    await until(() => countEnded(callers) > plan.last.authorizations.length / 2)
    await chainFaults.reset()
  }
  // Who trusts the answers of a chain that is gone asks for ever, and no end is heard.
  if (plan.resets.length === 0) await openNonce(plan, around)
}

/** Waits for the last faults to strike, and sees to it that they are the last. */
async function weather({ nodes, chainFaults }: Surroundings): Promise<void> {
  await until(() => nodes.isCalm() && chainFaults.isCalm())
  nodes.calm()
  chainFaults.calm()
}

/** Not before all else has ended: what the server holds already would fill the gap. */
async function openNonce({ aboveGap }: Plan, { callers, chainFaults }: Surroundings): Promise<void> {
  const count = callers.told.size - aboveGap.length
  let ended = -1
  // Or no more end: who trusts an answer that a reorganization between two lives made untrue asks for ever.
  while (countEnded(callers) > ended && countEnded(callers) < count) {
    ended = countEnded(callers)
    await until(() => countEnded(callers) > ended)
  }
  await chainFaults.openNonce(() => callers.begin(aboveGap.length))
}

async function until(isSo: () => boolean, limitMs = LIFE_LIMIT_MS): Promise<void> {
  const giveUpAt = performance.now() + limitMs
  while (!isSo() && performance.now() < giveUpAt) await sleep(LOOK_MS)
}

function countEnded({ told }: Callers): number {
  return [...told.values()].filter(({ endedAt, refused }) => refused || endedAt !== undefined).length
}

function describe({ kind, nth, afterMs }: PlannedKill): string {
  const isTimed = kind === 'random' || kind === 'starting'
  return `killed at ${kind}, ${isTimed ? `after ${afterMs} ms` : `number ${nth}`}`
}
