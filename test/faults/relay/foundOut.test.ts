import { expect, test } from 'vitest'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { createRelayPlan } from './plan.js'
import { runRelayStorm } from './storm.js'

// Broken relays: the storm has to notice each.
const rounds = { reads: 0, sends: 0, spells: 0, chain: 0 }

test('a relay that sends before it saves is found out', async () => {
  const plan = createRelayPlan({ seed: 7, authorizations: 12, kills: 1, rounds, calmness: 1 })
  const lives = plan.lives.map((life) => ({ ...life, kill: { kind: 'sent', nth: 1, afterMs: 0 } as const }))
  const { violations } = await runRelayStorm({
    plan: { ...plan, lives },
    directory: await temporaryDirectory(),
    breaks: 'FAULTS_SEND_FIRST',
    patienceMs: 2_000,
  })
  expect(violations.join('\n')).toContain('sent before it was saved')
  // A relay that forgets its transaction cannot name the one that had the effect.
  expect(violations.join('\n')).toContain('the receipt says by somebody else, the chain by 0x')
})

test('a relay that does not save its no-op transactions is found out', async () => {
  const plan = createRelayPlan({ seed: 7, authorizations: 20, kills: 1, rounds, calmness: 1 })
  const sends = [{ kind: 'unwanted', after: 2, times: 1, amount: 0 } as const]
  const { violations } = await runRelayStorm({
    plan: { ...plan, sends },
    directory: await temporaryDirectory(),
    breaks: 'FAULTS_LOSE_NO_OPS',
    patienceMs: 2_000,
  })
  expect(violations.join('\n')).toContain('a no-op, sent before it was saved')
})
