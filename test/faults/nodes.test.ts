import { expect, test } from 'vitest'
import { REPEAT, SEED } from '../support/seed.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { createPlan, FAULTS } from './plan.js'
import { runStorm } from './storm.js'

const TIMEOUT_MS = 400_000

test('orders settle once behind nodes that fail and trail, and every receipt is true', {
  timeout: TIMEOUT_MS,
}, async () => {
  const faults = {
    ...{ read: FAULTS.read.length, send: FAULTS.send.length, spell: FAULTS.spell.length },
    ...{ chain: FAULTS.chain.length, blocks: 4, step: 5, opening: 1 },
  }
  const plan = createPlan({ seed: SEED, lengthMs: 80_000, orders: 20, faults })
  const report = await runStorm({ plan, servers: 1, directory: await temporaryDirectory() })
  expect(report.violations.join('\n'), REPEAT).toBe('')
  for (const part of ['read', 'send', 'spell'] as const) {
    const struck = FAULTS[part].filter((kind) => report.struck.has(`${part} ${kind}`))
    expect(struck, REPEAT).toEqual(FAULTS[part])
  }
})
