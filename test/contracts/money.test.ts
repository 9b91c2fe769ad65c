// Money is neither created nor lost: random sequences on the chain, against a reference model.

import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestChain, type TestChain } from '../support/chain.js'
import { AAPL, DAY, MSFT, ORG, USDC } from '../support/institution.js'
import { createRunner, type Played } from '../support/money/runner.js'
import { INITIAL_USDC } from '../support/money/state.js'
import { sequence, WALLETS } from '../support/money/steps.js'
import { REPEAT } from '../support/seed.js'
import { usdcFixture } from './fixtures/usdc.js'

const SEQUENCES = 500
const UNLIMITED = 2n ** 256n - 1n

let chain: TestChain
let play: Awaited<ReturnType<typeof createRunner>>

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
  play = await createRunner(chain)
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
  'settle InvalidPayout',
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

it(`in random sequences of 50 steps each ends as modelled, and no money is created or lost, over ${SEQUENCES} sequences`, async () => {
  const seen = new Set<string>()
  const property = fc.asyncProperty(sequence, async (steps) => {
    for (const played of await play(steps)) for (const outcome of outcomesOf(played)) seen.add(outcome)
  })
  await fc.assert(property, { numRuns: SEQUENCES })
  expect(
    REACHED.filter((outcome) => !seen.has(outcome)),
    REPEAT,
  ).toEqual([])
}, 600_000)

const ORDER = { among: 'all', index: 0 } as const
const buyer = { wallet: 'alice', lifetime: 10, reuse: false } as const
const opens = { kind: 'openBuy', amount: 5_000_000n, pick: ORDER, ...buyer } as const
const reclaims = { kind: 'reclaim', pick: ORDER, by: 'account' } as const
const settles = { kind: 'settle', asset: USDC, percent: 100n, pick: ORDER, off: 0n, wrong: null } as const

it.each([
  [
    'in the very second when it can be reclaimed, and the settlement behind it in the block fails',
    0,
    [null, 'OrderNotOpen'],
  ],
  ['no second earlier, when the settlement wins', 1, ['ReclaimTooEarly', null]],
])('money comes back by a reclaim %s', async (_, early, expected) => {
  const played = await play([
    { action: opens, elapsed: 1 },
    { action: reclaims, elapsed: opens.lifetime + 7 * DAY - early },
    { action: settles, elapsed: 0 },
  ])
  expect(played.map(({ outcome }) => outcome)).toEqual([null, ...expected])
})
