// Money is neither created nor lost: random sequences on the chain, against a reference model.

import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestChain, type TestChain } from '../support/chain.js'
import { AAPL, DAY, MSFT, ORG, USDC } from '../support/institution.js'
import { LENGTH } from '../support/length.js'
import { createRunner } from '../support/money/runner.js'
import { INITIAL_USDC } from '../support/money/state.js'
import { sequence, WALLETS } from '../support/money/steps.js'
import { REPEAT } from '../support/seed.js'
import { usdcFixture } from './fixtures/usdc.js'

const SEQUENCES = 100 * LENGTH
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

/** Different ends of different steps that the sequences must reach: with fewer they prove little. */
const REACHED = 100

it(`in random sequences of 50 steps each ends as modelled, and no money is created or lost, over ${SEQUENCES} sequences`, async () => {
  const seen = new Set<string>()
  const property = fc.asyncProperty(sequence, async (steps) => {
    for (const [index, outcome] of (await play(steps)).entries()) {
      seen.add(`${steps[index]?.action.kind} ${outcome}`)
    }
  })
  await fc.assert(property, { numRuns: SEQUENCES })
  expect(seen.size, REPEAT).toBeGreaterThanOrEqual(REACHED)
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
  const outcomes = await play([
    { action: opens, elapsed: 1 },
    { action: reclaims, elapsed: opens.lifetime + 7 * DAY - early },
    { action: settles, elapsed: 0 },
  ])
  expect(outcomes).toEqual([null, ...expected])
})
