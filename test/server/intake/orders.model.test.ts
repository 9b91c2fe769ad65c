// The intake and what runs orders, against a model of what the escrow's commit decides (docs/decisions/0009, 0010).
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { MAX_CANDIDATES } from '../../../src/server/store/orderRecords.js'
import { LENGTH } from '../../support/length.js'
import { commands, type Model } from './model/commands.js'
import { type Market, ORDERS, openMarket, owned, useModelClock } from './model/market.js'

vi.mock('node:timers/promises', () => import('./model/clock.js'))

const RUNS = 40 * LENGTH
const COMMANDS = { maxCommands: 24, size: 'max' } as const
const LOOK_MS = 2_400
const TIMEOUT_MS = 300_000 * LENGTH
const FAR = 4_000_000_000

/** The steps of the server that are waited for. */
interface Turns {
  count(): number
  waitOne(): Promise<void>
}

/** Lets the server do what it has to do, and look at the chain. */
async function settle(market: Market, turns: Turns): Promise<void> {
  for (let look = 0; look < 3; look++) {
    await drain(turns)
    await market.pass(LOOK_MS)
  }
  await drain(turns)
}

async function drain(turns: Turns): Promise<void> {
  for (let quiet = 0; quiet < 8; quiet++) {
    await new Promise((resolve) => setImmediate(resolve))
    while (turns.count() > 0) {
      quiet = 0
      await turns.waitOne()
    }
  }
}

async function within(work: (root: string) => Promise<void>): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'backend-test-'))
  try {
    await work(root)
  } finally {
    await rm(root, { recursive: true })
  }
}

/** Ends every run until each of these orders has been run with its envelope. */
async function untilRun(market: Market, orders: readonly string[], turns: Turns): Promise<string[]> {
  let missing: string[] = []
  for (let round = 0; round < 40; round++) {
    while (market.enclave.endNext({ outcome: 'placed', retryAt: FAR }) !== undefined);
    await settle(market, turns)
    missing = orders.filter(
      (orderId) => !market.enclave.runs.some((run) => run.orderId === orderId && run.commit !== null),
    )
    if (missing.length === 0) return missing
  }
  return missing
}

/** Expects the rules that hold after any history. */
async function expectAllWell(market: Market, model: Model, turns: Turns): Promise<void> {
  await settle(market, turns)
  const orders = ORDERS.map((name) => owned[name])
  const open = orders.filter(({ orderId }) => market.chain.stateOf(orderId) === 'OPEN')
  const ids = open.map(({ orderId }) => orderId)
  const acknowledged = ids.filter((orderId) => model.acknowledged.has(orderId))
  expect(await untilRun(market, acknowledged, turns)).toEqual([])
  for (const order of open) {
    const answering = market.post(order, order.envelope)
    await settle(market, turns)
    expect(await answering).toMatchObject({ commit: order.commit })
  }
  expect(await untilRun(market, ids, turns)).toEqual([])
  for (const { orderId } of orders) {
    const reading = market.life().records.get(orderId)
    await drain(turns)
    expect((await reading)?.candidates.length ?? 0).toBeLessThanOrEqual(MAX_CANDIDATES)
  }
  expect(market.broken).toEqual([])
  expect(model.refused).toEqual([])
}

test(
  'in whatever order the steps come, the envelope of an open escrow is run, and no other',
  async () => {
    useModelClock()
    const histories = fc.commands<Model, Market, true>(commands(), COMMANDS)
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), histories, (scheduler, planned) =>
        within(async (root) => {
          const turn = (step: string) => scheduler.schedule(Promise.resolve(), step)
          const market = await openMarket(root, turn)
          const model: Model = { acknowledged: new Set(), refused: [] }
          await fc.scheduledModelRun(scheduler, () => ({ model, real: market }), planned)
          await expectAllWell(market, model, scheduler)
          // Its timers would slow down every case that follows.
          market.life().kill()
        }),
      ),
      { numRuns: RUNS },
    )
  },
  TIMEOUT_MS,
)
