// The enclave among real parts: a local chain with the real contracts, the broker stand-in and a relay to that chain.
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { createChainState } from '../../../src/enclave/chainState.js'
import { createEnclave, type EnclaveDeps } from '../../../src/enclave/enclave.js'
import { createPortfolioStore } from '../../../src/enclave/stores.js'
import type { Envelope } from '../../../src/protocol/envelope.js'
import { nameToBytes32 } from '../../../src/protocol/identifiers.js'
import type { Job, RunResult } from '../../../src/protocol/job.js'
import { openNotice } from '../../../src/protocol/notice.js'
import type { BrokerStandIn } from '../../../src/simulator/index.js'
import { FEES } from '../../support/brokerBooks.js'
import { ENCLAVE_ACCOUNT, sharedBrokerOf, startStandIn, usd } from '../../support/brokerStandIn.js'
import { type SetUp, startTestChain, type TestChain, useChain } from '../../support/chain.js'
import { ROLES, type Role } from '../../support/roles.js'
import { rpcOf } from '../../support/tappedRpc.js'
import { createChainRelay } from './chainRelay.js'
import { type Booked, checkInvariants } from './invariants.js'
import {
  cancelOf,
  type Decision,
  ENCLAVE_KEYS,
  type OpenedOrder,
  ORG_ID,
  openOrder,
  resolutionOf,
  rulesFor,
  sealRulebook,
  USER_KEY,
  type Wish,
} from './parties.js'

export const SYMBOLS = [
  { symbol: 'AAPL', name: 'Apple Inc. Common Stock', price: '200' },
  { symbol: 'MSFT', name: 'Microsoft Corporation Common Stock', price: '410.5' },
  { symbol: 'TSLA', name: 'Tesla, Inc. Common Stock', price: '250' },
]
/** Each employee's wallet at the start. */
export const WALLET = usd(50_000)

/** The head counts at once, and however old it is: the clock is steered, and blocks are mined on demand. */
const CHAIN_SETTINGS = { depth: 0, maxHeadAgeMs: Number.MAX_SAFE_INTEGER } as const

/** Time that passes only when someone sleeps. */
function steeredClock() {
  let now = Date.now()
  const slept: number[] = []
  return {
    /** Every sleep so far, in milliseconds. */
    slept,
    now: () => now,
    async sleep(ms: number) {
      slept.push(ms)
      now += ms
    },
  }
}

interface RunOptions {
  /** Instead of keeping what is reported. */
  report?: (result: RunResult) => Promise<void>
  envelope?: Envelope | null
  /** Instead of the account's own. */
  cancel?: Envelope
  deps?: Partial<EnclaveDeps>
  /** Seconds that the run has. */
  budget?: number
}

/** A world for the tests of a file. */
export function useWorld(): () => World {
  const chain = useChain(setUpWorld)
  let world: World | undefined
  beforeEach(async () => {
    const broker = await startStandIn({ symbols: SYMBOLS })
    world = createWorld(chain(), broker)
  })
  afterEach(async () => {
    await world?.broker.stop()
  })
  return () => {
    if (!world) throw new Error('the world begins before each test')
    return world
  }
}

/** A chain with contracts of its own, for the tests of a file: another deployment. */
export function useOtherChain(): () => TestChain {
  let chain: TestChain | undefined
  beforeAll(async () => {
    chain = await startTestChain()
    await setUpWorld(chain)
  })
  afterAll(() => chain?.stop())
  return () => {
    if (!chain) throw new Error('the chain begins before all tests')
    return chain
  }
}

/** Lists equities, and has two cleared employees with USDC join an institution that is admitted and has a rulebook. */
export const setUpWorld: SetUp = Object.assign(
  async (chain: TestChain) => {
    for (const { symbol } of SYMBOLS)
      await chain.send('owner', 'token', 'setListed', nameToBytes32(symbol), true)
    await chain.send('admin', 'registry', 'registerInstitution', ORG_ID)
    await chain.send('owner', 'registry', 'setAdmitted', ORG_ID, chain.account('admin'), true)
    for (const who of ['alice', 'bob'] as const) {
      await chain.send('owner', 'token', 'setKyc', chain.account(who), true)
      await chain.send('admin', 'registry', 'setMember', chain.account(who), true)
      await chain.send(who, 'registry', 'join', ORG_ID)
      await chain.send(who, 'usdc', 'mint', chain.account(who), WALLET)
      await chain.send(who, 'usdc', 'approve', chain.addresses.orderEscrow, WALLET)
    }
    const broker = await startStandIn({ symbols: SYMBOLS })
    const world = createWorld(chain, broker)
    const result = await world.policy(await sealRulebook(chain, rulesFor(chain), 1))
    if (result.outcome !== 'accepted') throw new Error(`the rulebook: ${JSON.stringify(result)}`)
    await broker.stop()
  },
  { saved: 'world' },
)

/** @param before what earlier stand-ins of the same account booked */
export function createWorld(chain: TestChain, broker: BrokerStandIn, before?: Booked) {
  const relay = createChainRelay(chain)
  const reports: RunResult[] = []
  const cancels = new Map<string, Envelope>()
  const clock = steeredClock()
  const rpc = rpcOf(chain)
  const { chainId } = chain.anvil
  const state = createChainState({ rpc, chainId, addresses: chain.addresses, ...CHAIN_SETTINGS, clock })
  const portfolios = createPortfolioStore(state, ENCLAVE_KEYS)

  const deps = (): EnclaveDeps => ({
    rpc,
    chainId,
    addresses: chain.addresses,
    broker: sharedBrokerOf(broker.url),
    relay,
    clock,
    keys: ENCLAVE_KEYS,
    timings: {
      confirmPollMs: 100,
      relayAgainMs: 1_000,
      fillWaitMs: 1_000,
      absentAgainMs: 30_000,
      ambiguousAgainMs: 2_000,
      depthWaitMs: 2_000,
    },
    fees: FEES,
    limits: { order: 0n, withdrawal: 0n },
    batching: { accounts: 1, maxDelayMs: 0 },
    ...CHAIN_SETTINGS,
  })
  const runJob = (job: Partial<Job> & Pick<Job, 'job'>, options: RunOptions = {}) => {
    const stopAt = Math.floor(clock.now() / 1_000) + (options.budget ?? 120)
    const whole = { runId: randomUUID(), stopAt, ...job } as Job
    const keep = async (result: RunResult) => {
      reports.push(result)
    }
    const given = { ...deps(), ...options.deps }
    return createEnclave(given)
      .run(whole, options.report ?? keep)
      .finally(() => given.broker.close())
  }
  async function run({ orderId, envelope }: OpenedOrder, options: RunOptions = {}): Promise<RunResult> {
    const given = options.envelope === undefined ? envelope : options.envelope
    const cancel = options.cancel ?? cancels.get(orderId)
    return runJob(
      { job: 'order', orderId, ...(given && { envelope: given }), ...(cancel && { cancel }) },
      options,
    )
  }
  /** The code in a result's notice. */
  async function noticeCode({ orderId }: OpenedOrder, { notice }: RunResult) {
    return notice ? (await openNotice(notice, USER_KEY, orderId)).code : null
  }
  const stored = async (who: Role) => portfolios.load(chain.account(who), (await state.look()).head)
  return {
    chain,
    broker,
    relay,
    clock,
    /** Reports of runs before their end. */
    reports,
    deps,
    open: (wish: Wish) => openOrder(chain, wish),
    /** Runs an order with its envelope, or without when `envelope` is null. */
    run,
    /** The order's account cancels it: every later run has the cancel. */
    async cancel(order: OpenedOrder) {
      cancels.set(order.orderId, await cancelOf(chain, order))
    },
    /** Opens and runs an order that must end as `settled`. */
    async settled(wish: Wish, options?: RunOptions) {
      const order = await openOrder(chain, wish)
      const result = await run(order, options)
      if (result.outcome !== 'settled') throw new Error(`not settled: ${JSON.stringify(result)}`)
      return order
    },
    /** Opens and runs an order that the broker keeps live until it is released. */
    async live(wish: Wish) {
      broker.control.fill({ mode: 'hold' })
      const order = await openOrder(chain, wish)
      const result = await run(order)
      if (result.outcome !== 'placed') throw new Error(`not placed: ${JSON.stringify(result)}`)
      return order
    },
    policy: (envelope: Envelope, options?: RunOptions) => runJob({ job: 'policy', envelope }, options),
    /** Runs what the owner decides, by another role's key where one is named. */
    resolve: async (decision: Decision, { signedBy, ...options }: RunOptions & { signedBy?: Role } = {}) =>
      runJob({ job: 'resolve', envelope: await resolutionOf(chain, decision, signedBy) }, options),
    reconcile: (options?: RunOptions) => runJob({ job: 'reconcile' }, options),
    portfolio: async (who: Role) => (await stored(who)).portfolio,
    /** The ledger's running hash of the account's portfolio. */
    portfolioHash: async (who: Role) => (await stored(who)).hash,
    state: async ({ orderId }: OpenedOrder) => (await state.escrow.orders(orderId)).state,
    usdc: async (who: Role) => (await state.usdc()).balanceOf(chain.account(who)),
    /** Tokens of a symbol in a wallet. */
    tokens: (who: Role, symbol: string) => state.token.balanceOf(chain.account(who), nameToBytes32(symbol)),
    noticeCode,
    /** Opens and runs an order that must end as `refunded`; the code in its notice. */
    async refused(wish: Wish, options?: RunOptions) {
      const order = await openOrder(chain, wish)
      const result = await run(order, options)
      if (result.outcome !== 'refunded') throw new Error(`not refunded: ${JSON.stringify(result)}`)
      return noticeCode(order, result)
    },
    /** @param loss USDC base units that buys cost which were reclaimed after their fill */
    checkInvariants: (loss = 0n) =>
      checkInvariants({
        loss,
        chain: state,
        rpc,
        portfolios,
        wallets: ROLES.map((role) => chain.account(role)),
        broker: broker.control,
        before,
        brokerCashAtStart: ENCLAVE_ACCOUNT.cash,
      }),
  }
}

export type World = ReturnType<typeof createWorld>
