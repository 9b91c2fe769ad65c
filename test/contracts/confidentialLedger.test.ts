import { beforeEach, describe, expect, it } from 'vitest'
import type { Hex } from '../../src/protocol/hex.js'
import { accountIdOf } from '../../src/protocol/identifiers.js'
import { MAX_PART_BYTES, partsOf } from '../../src/protocol/ledgerBlob.js'
import {
  type BoundOrder,
  policyUpdate,
  portfolioUpdate,
  refund,
  settlement,
} from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import { AAPL, bytes32, DAY, ORG, setUpInstitution, USDC, usd, ZERO_BYTES32 } from '../support/institution.js'
import { EMPTY, orderActions } from '../support/orderActions.js'

const chain = useChain(setUpInstitution)
const { account, buy, nextOf, relay, relayRevert, request } = orderActions(chain)

const admin = () => account('admin')
const id = () => accountIdOf(account('alice'))
const read = (method: string, ...args: unknown[]) => chain().read('ledger', method, ...args)
async function events(sent: ReturnType<typeof relay>) {
  return chain()
    .events(await sent)
    .map(({ name, args }) => [name, ...args])
}

describe('updatePortfolio', () => {
  let order: BoundOrder
  beforeEach(async () => {
    order = await request('alice', 'sale')
  })

  it('writes both blobs and the version, and replaces them by the next', async () => {
    expect(await events(relay(portfolioUpdate(order)))).toEqual([['PortfolioUpdated', id(), 1n]])
    const next = {
      ...(await nextOf('alice')),
      enclaveBlob: `0x${'e2'.repeat(600)}`,
      userBlob: `0x${'f2'.repeat(7)}`,
    } as const
    await relay(portfolioUpdate(order, next))
    expect(await read('portfolioVersion', id())).toBe(2n)
    expect(await read('enclaveBlob', id())).toBe(next.enclaveBlob)
    expect(await read('userBlob', id())).toBe(next.userBlob)
    const third = { ...(await nextOf('alice')), enclaveBlob: '0x01', userBlob: '0x02' } as const
    await relay(portfolioUpdate(order, third))
    expect(await read('enclaveBlob', id())).toBe('0x01')
    expect(await read('userBlob', id())).toBe('0x02')
  })

  it('refuses an empty blob', async () => {
    for (const empty of [{ enclaveBlob: '0x' }, { userBlob: '0x' }] as const) {
      expect(await relayRevert(portfolioUpdate(order, empty))).toEqual({ name: 'EmptyBlob', args: {} })
    }
  })

  // A reorganization can put another order in the place of the one that the enclave decided on.
  it('is for one order, open or reclaimed: account, asset, amount and commit', async () => {
    const bought = await buy('alice', 'buy', usd(5_000))
    for (const state of [1n, 3n]) {
      if (state === 3n) {
        await chain().mineAt((await chain().now()) + 9 * DAY)
        await chain().send('alice', 'escrow', 'reclaim', bought.orderId)
      }
      const others = [
        { account: account('bob') },
        { asset: ZERO_BYTES32 },
        { asset: AAPL },
        { amount: bought.amount + 1n },
        { amount: 0n },
        { commit: bytes32('another intent') },
      ]
      for (const other of others) {
        expect(await relayRevert(portfolioUpdate({ ...bought, ...other }, { state }))).toEqual({
          name: 'OrderMismatch',
          args: { orderId: bought.orderId },
        })
      }
      expect(await relayRevert(portfolioUpdate(bought, { state }))).toBeNull()
    }
    expect(await relayRevert(portfolioUpdate({ ...order, asset: USDC }))).toMatchObject({
      name: 'OrderMismatch',
    })
  })

  it('names OPEN or REFUNDED; no other state is ever the right one', async () => {
    const settled = await buy('bob', 'settled', usd(1))
    await relay(settlement(settled))
    const refunded = await buy('alice', 'refunded', usd(1))
    await relay(refund(refunded, { version: 0n, ...EMPTY }))
    const never = { ...order, orderId: bytes32('never opened') }
    const at = [
      [never, '0'],
      [order, '1'],
      [settled, '2'],
      [refunded, '3'],
    ] as const
    for (const [one, state] of at) {
      const { orderId } = one
      const next = one === settled ? { version: 2n } : {}
      const refusalOf = (named: bigint) => relayRevert(portfolioUpdate(one, { state: named, ...next }))
      const notOpen = { name: 'OrderNotOpen', args: { orderId, state } }
      const notRefunded = { name: 'OrderNotRefunded', args: { orderId, state } }
      expect(await refusalOf(0n)).toEqual(notRefunded)
      expect(await refusalOf(1n)).toEqual(state === '1' ? null : notOpen)
      expect(await refusalOf(2n)).toEqual(notRefunded)
      expect(await refusalOf(3n)).toEqual(state === '3' ? null : notRefunded)
      // Not a value of the enum: the struct does not decode.
      expect(await refusalOf(4n)).toMatchObject({ name: 'unknown' })
    }
  })
})

it('updatePolicy replaces the rulebook and counts its version', async () => {
  expect(await events(relay(policyUpdate(ORG, admin())))).toEqual([['PolicyUpdated', ORG, 1n]])
  await relay(policyUpdate(ORG, admin(), { version: 2n, policyBlob: '0xabcdef' }))
  expect(await read('policyVersion', ORG)).toBe(2n)
  expect(await read('policyBlob', ORG)).toBe('0xabcdef')
})

describe('a rulebook in parts', () => {
  const BLOB: Hex = `0x${'5a'.repeat(2 * MAX_PART_BYTES)}a5`
  const OLD = '0x01'
  /** The parts' authorizations, by an admin who may change. */
  const partsBy = (author: Hex, blob = BLOB, version = 2n) => {
    const { parts, digest } = partsOf(blob)
    const whole = { version, parts: BigInt(parts.length), digest }
    return (part: number) =>
      policyUpdate(ORG, author, { ...whole, part: BigInt(part), policyBlob: parts[part] ?? '0x' })
  }
  const inForce = async () => [await read('policyVersion', ORG), await read('policyBlob', ORG)]
  beforeEach(() => relay(policyUpdate(ORG, admin())))

  it('takes force with its last part, at once, and whole', async () => {
    const part = partsBy(admin())
    expect(await relayRevert(part(1))).toEqual({ name: 'PartConflict', args: { expected: '0', got: '1' } })
    expect(await events(relay(part(0)))).toEqual([])
    expect(await events(relay(part(1)))).toEqual([])
    expect(await inForce()).toEqual([1n, OLD])
    expect(`${await read('pendingPolicyBlob', ORG)}`).toBe(BLOB.slice(0, 2 + 4 * 43_734))
    expect(await events(relay(part(2)))).toEqual([['PolicyUpdated', ORG, 2n]])
    expect(await inForce()).toEqual([2n, BLOB])
    expect(await read('policyDigest', ORG)).toBe(partsOf(BLOB).digest)
    expect(await read('pendingPolicyBlob', ORG)).toBe('0x')
    await relay(policyUpdate(ORG, admin(), { version: 3n }))
    expect(await inForce()).toEqual([3n, OLD])
  })

  it('is replaced by the first part of another, and by one that comes whole', async () => {
    const part = partsBy(admin())
    const other: Hex = `0x${'77'.repeat(MAX_PART_BYTES + 1)}`
    const another = partsBy(admin(), other)
    await relay(part(0))
    await relay(another(0))
    expect(await relayRevert(part(1))).toEqual({ name: 'PartConflict', args: { expected: '0', got: '1' } })
    expect(await relayRevert(part(0))).toMatchObject({ name: 'DigestUsed' })
    await relay(policyUpdate(ORG, admin(), { version: 2n, policyBlob: '0x99' }))
    expect(await inForce()).toEqual([2n, '0x99'])
    expect(await read('pendingPolicyBlob', ORG)).toBe('0x')
    expect(await relayRevert(another(1))).toMatchObject({ name: 'VersionConflict' })
    const late = partsBy(admin(), other, 3n)
    expect(await relayRevert(late(1))).toEqual({ name: 'PartConflict', args: { expected: '0', got: '1' } })
  })
})

it('updatePolicy refuses an author who is not the institution’s admin in this very block', async () => {
  expect(await relayRevert(policyUpdate(ORG, account('alice')))).toEqual({
    name: 'NotInstitutionAdmin',
    args: { orgId: ORG, expected: admin(), got: account('alice') },
  })
  await chain().send('admin', 'registry', 'transferAdmin', account('alice'))
  await chain().send('alice', 'registry', 'acceptAdmin', ORG)
  expect(await relayRevert(policyUpdate(ORG, admin()))).toEqual({
    name: 'NotInstitutionAdmin',
    args: { orgId: ORG, expected: account('alice'), got: admin() },
  })
})
