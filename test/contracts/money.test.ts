// Money is neither created nor lost: random sequences on the chain, against a reference model.

import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestChain, type TestChain } from '../support/chain.js'
import { AAPL, DAY, MSFT, ORG, USDC } from '../support/institution.js'
import { createMining, createSimulation, type Engine } from '../support/money/engines.js'
import { createRunner, type Played } from '../support/money/runner.js'
import { INITIAL_USDC } from '../support/money/state.js'
import { type Action, sequence, WALLETS } from '../support/money/steps.js'
import { REPEAT } from '../support/seed.js'
import { usdcFixture } from './fixtures/usdc.js'

const SEQUENCES = 500
/** So many of them are mined, too: a request per transaction takes its time. */
const MINED_SEQUENCES = 10
const UNLIMITED = 2n ** 256n - 1n

let chain: TestChain
let play: Awaited<ReturnType<typeof createRunner>>
let simulated: Engine
let mined: Engine

/** Prepares the chain like `initialState` of the model. */
async function setUp(): Promise<void> {
  await chain.send('admin', 'registry', 'registerInstitution', ORG)
  await chain.send('owner', 'registry', 'setAdmitted', ORG, chain.account('admin'), true)
  for (const member of ['alice', 'bob', 'dave'] as const) {
    await chain.send('admin', 'registry', 'setMember', chain.account(member), true)
    await chain.send(member, 'registry', 'join', ORG)
  }
  for (const wallet of ['alice', 'bob', 'carol'] as const) {
    await chain.send('owner', 'token', 'setKyc', chain.account(wallet), true)
  }
  for (const wallet of WALLETS) {
    await chain.send(wallet, 'usdc', 'mint', chain.account(wallet), INITIAL_USDC)
    await chain.send(wallet, 'usdc', 'approve', chain.addressOf('escrow'), UNLIMITED)
    await chain.send(wallet, 'usdc', 'approve', chain.addressOf('pool'), UNLIMITED)
  }
  await chain.send('owner', 'token', 'setListed', AAPL, true)
  // Its shares exist, so that a transfer of them is refused by the flags.
  await chain.send('owner', 'token', 'setListed', MSFT, true)
  await chain.send('owner', 'token', 'setListed', MSFT, false)
  for (const wallet of WALLETS) {
    for (const shares of ['aapl', 'msft'] as const) {
      await chain.send(wallet, shares, 'approve', chain.addressOf('escrow'), UNLIMITED)
    }
  }
}

beforeAll(async () => {
  const { deployUsdc } = await usdcFixture('BlacklistingUsdc')
  chain = await startTestChain({ args: ['--gas-limit', '10000000000'], deployUsdc })
  await setUp()
  await chain.provider.send('evm_setAutomine', [false])
  play = await createRunner(chain)
  simulated = createSimulation(chain)
  mined = createMining(chain)
})
afterAll(() => chain?.stop())

/** Steps that must have happened among the sequences, or they prove little. */
const REACHED = [
  ...[
    'openBuy',
    'openDeposit',
    'openRequest',
    'openBuyFor',
    'openRequestFor',
    'settle',
    'refund',
    'reclaim',
    'mint',
    'burn',
    'transfer',
    'fund',
    'treasury',
    'claim',
    'gift',
    'sweep',
    'pause',
    'liftPause',
  ].map((kind) => `${kind} succeeds`),
  'settle pays USDC',
  'settle pays shares',
  'settle makes a claim on USDC',
  'settle makes a claim on shares',
  'refund makes a claim',
  ...['settle', 'refund', 'reclaim'].map((kind) => `${kind} ends a deposit of shares`),
  ...['OrderMismatch', 'OrderNotOpen'].map((error) => `settle of a deposit of shares ${error}`),
  'openDeposit ZeroAmount',
  'openDeposit PlatformPaused',
  'openDeposit NotCleared',
  'openDeposit WalletFrozen',
  'openDeposit OrderIdTaken',
  'openDeposit ERC20InsufficientBalance',
  'reclaim makes a claim',
  'settle OrderNotOpen',
  'settle PoolShort',
  'settle VersionConflict',
  'settle OrderMismatch',
  'settle HistoryConflict',
  'settle PlatformPaused',
  'refund OrderMismatch',
  'refund HistoryConflict',
  'refund VersionConflict',
  'reclaim ReclaimTooEarly',
  'replay DigestUsed',
  'openBuy PlatformPaused',
  'openBuyFor OpeningExpired',
  'openBuyFor ERC3009InvalidSignature',
  'openBuyFor OrderIdTaken',
  'openRequestFor OpeningExpired',
  'openRequestFor NotSignedByAccount',
  'claim NoClaim',
  'claim NotClaimRecipient',
  'claim Error',
  'claim WalletFrozen',
  'claim by an approved wallet',
  'sweep NothingToSweep',
]

function outcomesOf({ step: { action }, outcome, makesClaim, paysAnother, isOfDeposit }: Played): string[] {
  const { kind } = action
  if (outcome !== null) {
    return [`${kind} ${outcome}`, ...(isOfDeposit ? [`${kind} of a deposit of shares ${outcome}`] : [])]
  }
  const assets = kind === 'settle' && action.percent > 0n && action.asset
  const paid = action.kind === 'settle' && action.asset === USDC ? 'USDC' : 'shares'
  return [
    `${kind} succeeds`,
    ...(assets ? [makesClaim ? `settle makes a claim on ${paid}` : `settle pays ${paid}`] : []),
    ...(makesClaim ? [`${kind} makes a claim`] : []),
    ...(isOfDeposit ? [`${kind} ends a deposit of shares`] : []),
    ...(paysAnother ? ['claim by an approved wallet'] : []),
  ]
}

describe('in random sequences of 50 steps each ends as modelled, and no money is created or lost', () => {
  it(`over ${SEQUENCES} sequences`, async () => {
    const seen = new Set<string>()
    await fc.assert(
      fc.asyncProperty(sequence, async (steps) => {
        for (const played of await play(simulated, steps)) {
          for (const outcome of outcomesOf(played)) seen.add(outcome)
        }
      }),
      { numRuns: SEQUENCES },
    )
    expect(
      REACHED.filter((outcome) => !seen.has(outcome)),
      REPEAT,
    ).toEqual([])
  }, 600_000)

  it(`over ${MINED_SEQUENCES} of them through the pool into mined blocks`, async () => {
    const property = fc.asyncProperty(sequence, async (steps) => {
      await play(mined, steps)
    })
    await fc.assert(property, { numRuns: MINED_SEQUENCES })
  }, 600_000)
})

describe('a deposit of shares that are frozen before it ends', () => {
  const FIRST = { among: 'all', index: 0 } as const
  const SECOND = { among: 'all', index: 1 } as const
  const exact = { off: 0n, wrong: null } as const
  const opening = { wallet: 'alice', lifetime: 10, reuse: false } as const
  const freeze = (on: boolean) => ({ kind: 'freeze', symbol: AAPL, wallet: 'alice', on }) as const
  const begins: Action[] = [
    { kind: 'mint', symbol: AAPL, amount: 10n ** 10n, batchOff: 0n, supplyOff: 0n },
    { kind: 'openRequest', ...opening, pick: FIRST },
    { kind: 'settle', pick: FIRST, asset: AAPL, percent: 50n, ...exact },
    { kind: 'openDeposit', index: 0, symbol: AAPL, percent: 80n, ...opening, pick: FIRST },
    freeze(true),
  ]
  const claims: Action = {
    ...{ kind: 'claim', of: { index: 0, wallet: 'alice', asset: AAPL }, to: 'account' },
  }

  it.each<[string, Action, boolean]>([
    ['settled pays the pool', { kind: 'settle', pick: SECOND, asset: null, percent: 0n, ...exact }, false],
    ['refunded becomes a claim', { kind: 'refund', pick: SECOND, blobs: false, ...exact }, true],
    ['reclaimed becomes a claim', { kind: 'reclaim', pick: SECOND, by: 'account' }, true],
  ])('%s', async (_, end, makesClaim) => {
    const played = await play(mined, [
      ...begins.map((action) => ({ action, elapsed: 1 })),
      { action: end, elapsed: 8 * DAY },
      ...[claims, freeze(false), claims].map((action) => ({ action, elapsed: 1 })),
    ])
    const refused = makesClaim ? ['WalletFrozen', null, null] : ['NoClaim', null, 'NoClaim']
    expect(played.map(({ outcome }) => outcome)).toEqual([...Array(6).fill(null), ...refused])
    expect(played.map((one) => one.makesClaim)).toEqual(
      played.map((_played, index) => index === begins.length && makesClaim),
    )
  })
})

describe('in the very second when it can be reclaimed, and in one block', () => {
  const LIFETIME = 10
  const ORDER = { among: 'all', index: 0 } as const
  const opens = {
    action: {
      kind: 'openBuy',
      wallet: 'alice',
      amount: 5_000_000n,
      lifetime: LIFETIME,
      reuse: false,
      pick: ORDER,
    },
    elapsed: 1,
  } as const
  const reclaims = { kind: 'reclaim', pick: ORDER, by: 'account' } as const
  const exact = { pick: ORDER, off: 0n, wrong: null } as const
  const settles = { kind: 'settle', asset: USDC, percent: 100n, ...exact } as const
  const refunds = { kind: 'refund', blobs: true, ...exact } as const

  it.each([
    ['reclaim, then settle', reclaims, settles],
    ['settle, then reclaim', settles, reclaims],
    ['reclaim, then refund', reclaims, refunds],
    ['refund, then reclaim', refunds, reclaims],
    ['settle, then refund', settles, refunds],
    ['refund, then settle', refunds, settles],
  ])('%s: the first wins, the second finds the order ended', async (_, first, second) => {
    const played = await play(mined, [
      opens,
      { action: first, elapsed: LIFETIME + 7 * DAY },
      { action: second, elapsed: 0 },
    ])
    expect(played.map(({ outcome }) => outcome)).toEqual([null, null, 'OrderNotOpen'])
  })

  it('a second earlier the settlement wins, wherever it stands in the block', async () => {
    const played = await play(mined, [
      opens,
      { action: reclaims, elapsed: LIFETIME + 7 * DAY - 1 },
      { action: settles, elapsed: 0 },
    ])
    expect(played.map(({ outcome }) => outcome)).toEqual([null, 'ReclaimTooEarly', null])
  })
})
