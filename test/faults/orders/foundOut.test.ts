import { expect, test } from 'vitest'
import { ONE_USDC } from '../../../src/protocol/units.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { createOrderPlan, type PlannedLife, type PlannedOrder } from './plan.js'
import { runOrderStorm } from './storm.js'

// Broken programs: the storm has to notice each.
const NONE = { store: 0, deaths: 0, stops: 0, world: 0, reorgs: 0 }
/** For a kill that waits for another event: never reached. A life that ends before its kill has nothing to find out. */
const LIFE_LIMIT_MS = 240_000
const OPTIONS = { timeout: 300_000 }
/** Several times what the next server needs until it offers its first run: 15 s were too few at a load of 28. */
const STOP_MS = 40_000

const SPONSORED: PlannedOrder = {
  ...{ trader: 0, repeats: 0, isSponsored: true },
  request: { side: 'BUY', symbol: 'AAPL', maxSpend: 25n * ONE_USDC },
}

interface Broken {
  readonly orders: number
  /** Changes the plan of the one life. */
  readonly life?: Partial<PlannedLife>
  readonly variables: Record<string, string>
  readonly patienceMs: number
  readonly lifeLimitMs?: number
  readonly starts?: number
}

async function violationsOf({ orders, life, ...options }: Broken): Promise<readonly string[]> {
  const plan = createOrderPlan({ seed: 7, orders, kills: 1, faults: NONE })
  const lives = plan.lives.map((planned) => ({ ...planned, ...life }))
  const directory = await temporaryDirectory()
  const { violations } = await runOrderStorm({ plan: { ...plan, lives }, directory, ...options })
  return violations
}

test('a server that starts a run without a record that outlives it is found out', OPTIONS, async () => {
  const life: Partial<PlannedLife> = {
    kill: { kind: 'run-started', nth: 1, afterMs: 0 },
    // The run has to last until the next server offers another one. A run that meets no relay ends within a second.
    acts: [{ step: 'noted', afterMs: 0, stopMs: STOP_MS }],
  }
  const found = await violationsOf({
    orders: 2,
    life,
    variables: { FAULTS_LOSE: 'runs' },
    patienceMs: 2 * STOP_MS,
    lifeLimitMs: LIFE_LIMIT_MS,
  })
  expect(found).toContainEqual(expect.stringContaining(' was offered beside 0x'))
})

test('an enclave that forgets its accepted runs is found out', OPTIONS, async () => {
  const life: Partial<PlannedLife> = {
    kill: { kind: 'enclave-killed', nth: 1, afterMs: 0 },
    // The relay answers after the server has recorded which enclave has the run. Until that record, the next server offers the run again,
    // and an enclave that forgot it may end it.
    acts: [{ step: 'after-write-ahead', afterMs: 0, stopMs: 0 }],
  }
  const found = await violationsOf({
    orders: 2,
    life,
    variables: { FAULTS_FORGET: 'yes' },
    patienceMs: 10_000,
    lifeLimitMs: LIFE_LIMIT_MS,
  })
  expect(found).toContainEqual(expect.stringMatching(/the run of 0x\w+ in a killed enclave is not over/))
})

test('a server that answers before it has stored is found out', OPTIONS, async () => {
  const found = await violationsOf({ orders: 2, variables: { FAULTS_LOSE: 'orders' }, patienceMs: 3_000 })
  expect(found).toContainEqual(expect.stringContaining('orders do not end'))
})

test('a server that answers a cancel before it has stored it is found out', OPTIONS, async () => {
  const found = await violationsOf({ orders: 2, variables: { FAULTS_LOSE: 'cancels' }, patienceMs: 10_000 })
  expect(found).toContainEqual(expect.stringMatching(/the cancel of 0x\w+ is lost/))
})

test('a relay that forgets an opening which it has taken is found out', OPTIONS, async () => {
  const found = await violationsOf({
    orders: 2,
    life: { kill: { kind: 'opening-sent', nth: 1, afterMs: 0 }, orders: [SPONSORED] },
    variables: { FAULTS_LOSE: 'relays' },
    patienceMs: 10_000,
    lifeLimitMs: LIFE_LIMIT_MS,
  })
  // The opening may have been mined before the kill.
  const lost = /the opening of 0x\w+ (?:was taken and is lost|has 0 records of the relay)/
  expect(found).toContainEqual(expect.stringMatching(lost))
})

test('a relay that keeps no count of gas is found out', OPTIONS, async () => {
  const found = await violationsOf({
    orders: 2,
    life: { orders: [SPONSORED] },
    variables: { FAULTS_LOSE: 'state' },
    patienceMs: 10_000,
  })
  expect(found).toContainEqual(expect.stringMatching(/the quota of 0x\w+ counts 0 gas of \d+/))
})

test('a server that cannot start is found out', OPTIONS, async () => {
  const variables = { CHAIN_ID: 'none' }
  const found = await violationsOf({ orders: 2, variables, patienceMs: 3_000, starts: 2 })
  expect(found).toContainEqual(expect.stringContaining('in 1 lives no server could start'))
})
