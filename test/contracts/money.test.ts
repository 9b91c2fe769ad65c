// Money is neither created nor lost: random sequences on the chain, against a reference model.

import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Hex } from '../../src/protocol/hex.js'
import { startTestChain, type TestChain } from '../support/chain.js'
import { AAPL, DAY, ORG, USDC } from '../support/institution.js'
import { createRunner, type Played50 } from '../support/money/runner.js'
import { HOLDERS, INITIAL_USDC } from '../support/money/state.js'
import { SYMBOLS, sequence, WALLETS } from '../support/money/steps.js'

const SEQUENCES = 500
const SEED = 20_250_107
const UNLIMITED = 2n ** 256n - 1n

let chain: TestChain
let play: Awaited<ReturnType<typeof createRunner>>

/** As `initialState` of the model says. */
async function setUp(): Promise<void> {
  await chain.send('admin', 'registry', 'registerInstitution', ORG)
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
}

beforeAll(async () => {
  chain = await startTestChain({ args: ['--gas-limit', '1000000000', '--auto-impersonate'] })
  await setUp()
  await chain.provider.send('evm_setAutomine', [false])
  play = await createRunner(chain)
})
afterAll(() => chain?.stop())

function sumOf({ census }: Played50, asset: Hex): bigint {
  return [...(census.balances.get(asset)?.values() ?? [])].reduce((sum, balance) => sum + balance, 0n)
}

/** USDC is where it was minted to or moved; a symbol's shares are its mints less its burns. */
function expectConserved(result: Played50): void {
  expect(sumOf(result, USDC)).toBe(BigInt(WALLETS.length) * INITIAL_USDC)
  for (const symbol of SYMBOLS) {
    const supply = result.state.supply.get(symbol) ?? 0n
    expect(result.census.supply.get(symbol)).toBe(supply)
    expect(sumOf(result, symbol)).toBe(supply)
  }
  const open = result.state.orders.filter((order) => order.open)
  const escrowed = open.reduce((sum, order) => sum + order.amount, 0n)
  expect(result.census.balances.get(USDC)?.get('escrow')).toBe(escrowed)
}

function expectAsModelled({ played, census, state }: Played50): void {
  for (const { step, expected, got } of played) expect(got, JSON.stringify(step.action, text)).toBe(expected)
  for (const asset of [USDC, ...SYMBOLS]) {
    for (const holder of HOLDERS) {
      const modelled = state.balances.get(asset)?.get(holder) ?? 0n
      expect(census.balances.get(asset)?.get(holder), holder).toBe(modelled)
    }
  }
}

function text(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}` : value
}

/** What must have happened among the sequences, or they prove little. */
const REACHED = [
  ...[
    'openBuy',
    'openRequest',
    'settle',
    'refund',
    'reclaim',
    'mint',
    'burn',
    'transfer',
    'fund',
    'treasury',
  ].map((kind) => `${kind} succeeds`),
  'settle pays USDC',
  'settle pays shares',
  'settle OrderNotOpen',
  'settle PoolShort',
  'settle VersionConflict',
  'settle WalletFrozen',
  'refund VersionConflict',
  'reclaim ReclaimTooEarly',
  'replay DigestUsed',
]

function outcomesOf({ played }: Played50): string[] {
  return played.flatMap(({ step: { action }, got }) => {
    const pays = action.kind === 'settle' && got === null && action.percent > 0n && action.asset
    return [
      `${action.kind} ${got ?? 'succeeds'}`,
      ...(pays ? [`settle pays ${action.asset === USDC ? 'USDC' : 'shares'}`] : []),
    ]
  })
}

it(`over ${SEQUENCES} random sequences of 50 steps, each ends as modelled and no money is created or lost`, async () => {
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(sequence, async (steps) => {
      const result = await play(steps)
      expectAsModelled(result)
      expectConserved(result)
      for (const outcome of outcomesOf(result)) seen.add(outcome)
    }),
    { numRuns: SEQUENCES, seed: SEED },
  )
  expect(REACHED.filter((outcome) => !seen.has(outcome))).toEqual([])
}, 600_000)

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
  const settles = { kind: 'settle', pick: ORDER, asset: USDC, percent: 100n, off: 0n } as const
  const refunds = { kind: 'refund', pick: ORDER, blobs: true, off: 0n } as const

  it.each([
    ['reclaim, then settle', reclaims, settles],
    ['settle, then reclaim', settles, reclaims],
    ['reclaim, then refund', reclaims, refunds],
    ['refund, then reclaim', refunds, reclaims],
    ['settle, then refund', settles, refunds],
    ['refund, then settle', refunds, settles],
  ])('%s: the first wins, the second finds the order ended', async (_, first, second) => {
    const result = await play([
      opens,
      { action: first, elapsed: LIFETIME + 7 * DAY },
      { action: second, elapsed: 0 },
    ])
    expect(result.played.map(({ got }) => got)).toEqual([null, null, 'OrderNotOpen'])
    expectAsModelled(result)
    expectConserved(result)
  })

  it('a second earlier the settlement wins, wherever it stands in the block', async () => {
    const result = await play([
      opens,
      { action: reclaims, elapsed: LIFETIME + 7 * DAY - 1 },
      { action: settles, elapsed: 0 },
    ])
    expect(result.played.map(({ got }) => got)).toEqual([null, 'ReclaimTooEarly', null])
    expectConserved(result)
  })
})
