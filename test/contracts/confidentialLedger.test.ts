// What the invariants (contracts/test) do not ask of writes: events, the names of refusals, and each term of the order that a write is for.
import { expect, it } from 'vitest'
import type { Hex } from '../../src/protocol/hex.js'
import { accountIdOf } from '../../src/protocol/identifiers.js'
import { MAX_PART_BYTES, partsOf } from '../../src/protocol/ledgerBlob.js'
import { policyUpdate, portfolioUpdate } from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import { AAPL, bytes32, DAY, ORG, setUpInstitution, USDC, usd, ZERO_BYTES32 } from '../support/institution.js'
import { orderActions } from '../support/orderActions.js'
import { callsOf } from './fixtures/calls.js'

const chain = useChain(setUpInstitution)
const { account, buy, nextOf, relay, relayRevert, request } = orderActions(chain)
const { read, toldBy } = callsOf(chain, 'ledger')
const admin = () => account('admin')

it('updatePortfolio writes both blobs and the version, and replaces them by the next', async () => {
  const [order, id] = [await request('alice', 'sale'), accountIdOf(account('alice'))]
  for (const empty of [{ enclaveBlob: '0x' }, { userBlob: '0x' }] as const)
    expect(await relayRevert(portfolioUpdate(order, empty))).toMatchObject({ name: 'EmptyBlob' })
  expect(await toldBy(relay(portfolioUpdate(order)))).toEqual([['PortfolioUpdated', id, 1n]])
  for (const [enclaveBlob, userBlob] of [
    [`0x${'e2'.repeat(600)}`, `0x${'f2'.repeat(7)}`],
    ['0x01', '0x02'],
  ] as const) {
    await relay(portfolioUpdate(order, { ...(await nextOf('alice')), enclaveBlob, userBlob }))
    expect([await read('enclaveBlob', id), await read('userBlob', id)]).toEqual([enclaveBlob, userBlob])
  }
  expect(await read('portfolioVersion', id)).toBe(3n)
})

// A reorganization can put another order in the place of the one that the enclave decided on.
it('updatePortfolio is for one order, open or reclaimed: account, asset, amount and commit', async () => {
  const [bought, sold] = [await buy('alice', 'buy', usd(5_000)), await request('alice', 'sale')]
  const mismatch = { name: 'OrderMismatch', args: { orderId: bought.orderId } }
  for (const state of [1n, 3n]) {
    if (state === 3n) {
      await chain().mineAt((await chain().now()) + 9 * DAY)
      await chain().send('alice', 'escrow', 'reclaim', bought.orderId)
    }
    for (const other of [
      { account: account('bob') },
      { asset: ZERO_BYTES32 },
      { asset: AAPL },
      { amount: bought.amount + 1n },
      { amount: 0n },
      { commit: bytes32('another intent') },
    ])
      expect(await relayRevert(portfolioUpdate({ ...bought, ...other }, { state }))).toEqual(mismatch)
    expect(await relayRevert(portfolioUpdate(bought, { state }))).toBeNull()
  }
  const inUsdc = portfolioUpdate({ ...sold, asset: USDC })
  expect(await relayRevert(inUsdc)).toMatchObject({ name: 'OrderMismatch' })
})

it('updatePolicy replaces the rulebook and counts its version', async () => {
  expect(await toldBy(relay(policyUpdate(ORG, admin())))).toEqual([['PolicyUpdated', ORG, 1n]])
  await relay(policyUpdate(ORG, admin(), { version: 2n, policyBlob: '0xabcdef' }))
  expect([await read('policyVersion', ORG), await read('policyBlob', ORG)]).toEqual([2n, '0xabcdef'])
})

it('updatePolicy lets a rulebook in parts take force with its last part, at once, and whole', async () => {
  const blob: Hex = `0x${'5a'.repeat(2 * MAX_PART_BYTES)}a5`
  const { parts, digest } = partsOf(blob)
  const part = (index: number) =>
    policyUpdate(ORG, admin(), {
      ...{ version: 2n, parts: BigInt(parts.length), digest },
      ...{ part: BigInt(index), policyBlob: parts[index] ?? '0x' },
    })
  const inForce = async () => [await read('policyVersion', ORG), await read('policyBlob', ORG)]
  await relay(policyUpdate(ORG, admin()))
  const skipped = { name: 'PartConflict', args: { expected: '0', got: '1' } }
  expect(await relayRevert(part(1))).toEqual(skipped)
  expect(await toldBy(relay(part(0)))).toEqual([])
  expect(await toldBy(relay(part(1)))).toEqual([])
  expect(await inForce()).toEqual([1n, '0x01'])
  expect(`${await read('pendingPolicyBlob', ORG)}`).toBe(blob.slice(0, 2 + 4 * 43_734))
  expect(await toldBy(relay(part(2)))).toEqual([['PolicyUpdated', ORG, 2n]])
  expect(await inForce()).toEqual([2n, blob])
  expect([await read('policyDigest', ORG), await read('pendingPolicyBlob', ORG)]).toEqual([digest, '0x'])
})
