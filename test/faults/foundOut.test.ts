// Broken programs: the storm has to notice each.
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { createPlan, type Fault, LEASE_TTL_MS, SERVERS } from './plan.js'
import { runStorm } from './storm.js'

const OPTIONS = { timeout: 300_000 }
/** For a fault that waits for another event: never reached. One that does not strike has nothing to find out. */
const LINGER_MS = 240_000
/** Several times what the next server needs until it offers its first run: 15 s were too few at a load of 28. */
const STOP_MS = 60_000
/** By then the first run is under way. */
const KILLED_AT_MS = 20_000
const COMMON = { atMs: 0, forMs: 0, amount: 0, target: 0, link: 'database', seed: 1 } as const

interface Broken {
  readonly breaks: string
  readonly faults?: readonly Fault[]
  readonly orders?: number
  readonly isSponsored?: boolean
  readonly servers?: number
  readonly lengthMs?: number
  readonly patienceMs?: number
}

async function violationsOf(broken: Broken): Promise<string> {
  const { breaks, faults = [], orders = 2, servers = 1, lengthMs = 3_000, patienceMs = 10_000 } = broken
  const calm = createPlan({ seed: 7, lengthMs, orders, faults: {} })
  const { isSponsored } = broken
  const placed = calm.orders.map((order) => (isSponsored ? { ...order, isSponsored } : order))
  const { violations } = await runStorm({
    plan: { ...calm, orders: placed, faults },
    ...{ servers, breaks, patienceMs },
    directory: await temporaryDirectory(),
    lingerMs: LINGER_MS,
  })
  return violations.join('\n')
}

test('a server that starts a run without a record that outlives it is found out', OPTIONS, async () => {
  const found = await violationsOf({
    breaks: 'lose runs',
    faults: [
      // The run has to last until the next server offers another one. A run that meets no relay ends within a second.
      { ...COMMON, part: 'enclave', kind: 'noted', forMs: STOP_MS },
      { ...COMMON, part: 'server', kind: 'killed', atMs: KILLED_AT_MS },
    ],
    patienceMs: 2 * STOP_MS,
  })
  expect(found).toContain(' was offered beside 0x')
})

test('an enclave that forgets its accepted runs is found out', OPTIONS, async () => {
  const found = await violationsOf({
    breaks: 'forget runs',
    // The relay answers after the server has recorded which enclave has the run. Until that record, the server offers the run again,
    // and an enclave that forgot it may end it.
    faults: [{ ...COMMON, part: 'enclave', kind: 'after-write-ahead' }],
  })
  expect(found).toMatch(/the run of 0x\w+ in a killed enclave is not over/)
})

test('a server that answers before it has stored is found out', OPTIONS, async () => {
  expect(await violationsOf({ breaks: 'lose orders', patienceMs: 3_000 })).toContain('orders do not end')
})

test('a server that answers a cancel before it has stored it is found out', OPTIONS, async () => {
  expect(await violationsOf({ breaks: 'lose cancels' })).toMatch(/the cancel of 0x\w+ is lost/)
})

test('a relay that forgets an opening which it has taken is found out', OPTIONS, async () => {
  const found = await violationsOf({
    breaks: 'lose relays',
    orders: 1,
    isSponsored: true,
    faults: [{ ...COMMON, part: 'opening', kind: 'forgotten' }],
  })
  // The opening may have been mined before the kill.
  expect(found).toMatch(/the opening of 0x\w+ (?:was taken and is lost|has 0 records of the relay)/)
})

test('a relay that sends before it saves is found out', OPTIONS, async () => {
  const found = await violationsOf({
    breaks: 'send first',
    faults: [{ ...COMMON, part: 'step', kind: 'sent' }],
  })
  expect(found).toContain('sent before it was saved')
})

test('a relay that does not save its no-op transactions is found out', OPTIONS, async () => {
  const found = await violationsOf({
    breaks: 'lose no-ops',
    orders: 4,
    faults: [{ ...COMMON, part: 'send', kind: 'unwanted' }],
  })
  expect(found).toContain('a no-op, sent before it was saved')
})

// Weaker locks and takes are in test/server/store/sessions.test.ts.
test('a narrator that saves without a fence is found out', OPTIONS, async () => {
  const found = await violationsOf({
    breaks: 'unfenced narrator',
    servers: SERVERS,
    lengthMs: 12_000,
    orders: 4,
    faults: [{ ...COMMON, part: 'step', kind: 'before-write-cursor', atMs: 2_000, forMs: 3 * LEASE_TTL_MS }],
    patienceMs: 3_000,
  })
  expect(found).toMatch(/state narrator: .* had taken narrator/)
})
