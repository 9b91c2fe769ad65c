// Openings that the account signs and anyone sends: exactly what was signed is opened, once, on this chain, in time.

import { describe, expect, it } from 'vitest'
import { ZERO_ADDRESS } from '../../src/protocol/address.js'
import type { Revert } from '../../src/protocol/api.js'
import type { Hex } from '../../src/protocol/hex.js'
import { buyNonce, type OpeningPlace, type OrderOpening } from '../../src/protocol/opening.js'
import { CURVE_ORDER } from '../../src/protocol/signature.js'
import { useChain } from '../support/chain.js'
import {
  bytes32,
  DAY,
  FUNDS,
  ORG,
  openRequest,
  setUpInstitution,
  soon,
  usd,
  ZERO_BYTES32,
} from '../support/institution.js'
import { keyOf, openingCall, openingPlace, signOpening } from '../support/openings.js'
import type { Role } from '../support/roles.js'

const chain = useChain(setUpInstitution)

const ID = bytes32('an order')
const MINUTE = 60
const NOT_SIGNED = { name: 'ERC3009InvalidSignature', args: {} }

const account = (role: Role): Hex => chain().account(role)
const read = (method: string, ...args: unknown[]) => chain().read('escrow', method, ...args)
const usdcOf = (address: Hex) => chain().read('usdc', 'balanceOf', address)

/** An opening by alice, for some minutes. */
async function opening(changes: Partial<OrderOpening>): Promise<OrderOpening> {
  return {
    account: account('alice'),
    orderId: ID,
    commit: bytes32('its sealed intent'),
    amount: usd(1_000),
    deadline: await soon(chain()),
    validBefore: (await chain().now()) + 10 * MINUTE,
    ...changes,
  }
}

const sign = (order: OrderOpening, key: Hex = keyOf(chain(), 'alice'), place?: OpeningPlace) =>
  signOpening(chain(), order, { key, place })
/** The revert of a call with this signature, which dave sends; null when it would succeed. */
const revert = (order: OrderOpening, signature: Hex): Promise<Revert | null> =>
  chain().revert('dave', ...openingCall(order, signature))
const send = (order: OrderOpening, from: Role = 'dave') =>
  chain().send(from, ...openingCall(order, sign(order)))

const KINDS = [
  ['openBuyFor', usd(1_000)],
  ['openRequestFor', 0n],
] as const

describe.each(KINDS)('%s', (_kind, amount) => {
  const signed = (changes: Partial<OrderOpening> = {}) => opening({ amount, ...changes })
  const notSigned = (by: Hex = account('alice')) =>
    amount > 0n ? NOT_SIGNED : { name: 'NotSignedByAccount', args: { expected: by, got: expect.anything() } }

  it('opens the order of an account without ether and without an approval, for any sender', async () => {
    await chain().send('alice', 'usdc', 'approve', chain().addressOf('escrow'), 0n)
    await chain().provider.send('anvil_setBalance', [account('alice'), '0x0'])
    const order = await signed()
    const receipt = await send(order, 'dave')
    const events = chain().events(receipt)
    expect(events.filter(({ contract }) => contract === 'escrow')).toEqual([
      {
        contract: 'escrow',
        name: 'OrderOpened',
        args: [ID, account('alice'), amount, BigInt(order.deadline), order.commit],
      },
    ])
    const { deadline, commit } = order
    expect(await read('orders', ID)).toEqual([
      account('alice'),
      amount,
      BigInt(deadline),
      commit,
      ORG,
      1n,
      ZERO_BYTES32,
      0n,
    ])
    expect(await read('takenBy', ID.slice(0, 34))).toBe(account('alice'))
    expect(await read('openOrdersBy', account('alice'))).toBe(1n)
    expect(await read('openOrdersBy', account('dave'))).toBe(0n)
    expect(await read('escrowed')).toBe(amount)
    expect(await usdcOf(chain().addressOf('escrow'))).toBe(amount)
    expect(await usdcOf(account('alice'))).toBe(FUNDS - amount)
  })

  it('opens nothing other than what was signed', async () => {
    const order = await signed()
    const signature = sign(order)
    const others: OrderOpening[] = [
      { ...order, account: account('bob') },
      { ...order, orderId: bytes32('another order') },
      { ...order, commit: bytes32('another sealed intent') },
      { ...order, deadline: order.deadline + 1 },
      { ...order, validBefore: order.validBefore + 1 },
    ]
    if (amount > 0n) others.push({ ...order, amount: amount + 1n }, { ...order, amount: amount - 1n })
    for (const other of others) expect(await revert(other, signature)).toEqual(notSigned(other.account))
    expect(await revert(order, signature)).toBeNull()
  })

  it('takes a signature for this chain, escrow and USDC alone', async () => {
    const order = await signed()
    const place = openingPlace(chain())
    const elsewhere: OpeningPlace[] = [
      { ...place, chainId: 1 },
      { ...place, escrow: account('dave') },
      ...(amount > 0n
        ? [
            { ...place, usdc: { ...place.usdc, address: account('dave') } },
            { ...place, usdc: { ...place.usdc, version: '1' } },
          ]
        : []),
    ]
    for (const other of elsewhere) {
      expect(await revert(order, sign(order, undefined, other))).toEqual(notSigned())
    }
  })

  it('takes no signature of another key, and none of another form', async () => {
    const order = await signed()
    expect(await revert(order, sign(order, keyOf(chain(), 'bob')))).toEqual(notSigned())
    const signature = sign(order)
    const length = { name: 'ECDSAInvalidSignatureLength', args: { length: expect.any(String) } }
    expect(await revert(order, '0x')).toEqual(length)
    expect(await revert(order, `${signature}00`)).toEqual(length)
    expect(await revert(order, `0x${signature.slice(2, -2)}`)).toEqual(length)
    const s = CURVE_ORDER - BigInt(`0x${signature.slice(66, 130)}`)
    const v = signature.endsWith('1b') ? '1c' : '1b'
    const high: Hex = `0x${signature.slice(2, 66)}${s.toString(16).padStart(64, '0')}${v}`
    expect(await revert(order, high)).toMatchObject({ name: 'ECDSAInvalidSignatureS' })
  })

  it('opens until the second before `validBefore`', async () => {
    const now = await chain().now()
    const [over, last] = [await signed({ validBefore: now }), await signed({ validBefore: now + 1 })]
    expect(await revert(over, sign(over))).toEqual({
      name: 'OpeningExpired',
      args: { validBefore: `${now}`, currentTime: `${now}` },
    })
    expect(await revert(last, sign(last))).toBeNull()
  })

  it('opens once, although somebody else sends it first or again', async () => {
    const order = await signed()
    await send(order, 'carol')
    const taken = { name: 'OrderIdTaken', args: { orderId: ID, by: account('alice') } }
    expect(await revert(order, sign(order))).toEqual(taken)
    const later = { ...order, deadline: order.deadline + DAY, validBefore: order.deadline + 9 * DAY }
    expect(await revert(later, sign(later))).toEqual(taken)
    expect(await usdcOf(account('alice'))).toBe(FUNDS - amount)
    await chain().mineAt(order.deadline + 8 * DAY)
    await chain().send('alice', 'escrow', 'reclaim', ID)
    const again = { ...later, deadline: await soon(chain()) }
    expect(await revert(again, sign(again))).toEqual(taken)
  })

  it('asks of the account what it asks of one that opens by itself', async () => {
    const order = await signed()
    const refuses = async (changes: Partial<OrderOpening> = {}) => {
      const changed = { ...order, ...changes }
      return (await revert(changed, sign(changed)))?.name
    }
    expect(await refuses({ deadline: await chain().now() })).toBe('DeadlineOutOfRange')
    expect(await refuses({ deadline: (await chain().now()) + 30 * DAY + 1 })).toBe('DeadlineOutOfRange')
    await chain().send('guardian', 'authority', 'pause')
    expect(await refuses()).toBe('PlatformPaused')
    await chain().send('owner', 'authority', 'liftPause')
    await chain().send('owner', 'token', 'setKyc', account('alice'), false)
    expect(await refuses()).toBe('NotCleared')
    await chain().send('owner', 'token', 'setKyc', account('alice'), true)
    for (let index = 0; index < 20; index++) await openRequest(chain(), 'alice', `order ${index}`)
    expect(await refuses()).toBe('TooManyOpenOrders')
  })
})

it('openBuyFor opens nothing by a signature that the account has cancelled at USDC', async () => {
  const order = await opening({})
  const { chainId, usdc } = openingPlace(chain())
  const wallet = await chain().provider.getSigner(account('alice'))
  const cancel = await wallet.signTypedData(
    { name: usdc.name, version: usdc.version, chainId, verifyingContract: usdc.address },
    {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    { authorizer: account('alice'), nonce: buyNonce(order) },
  )
  const [r, s, v] = [cancel.slice(0, 66), `0x${cancel.slice(66, 130)}`, Number(`0x${cancel.slice(130)}`)]
  await chain().send('dave', 'usdc', 'cancelAuthorization', account('alice'), buyNonce(order), v, r, s)
  expect(await revert(order, sign(order))).toEqual({
    name: 'ERC3009UsedAuthorization',
    args: { authorizer: account('alice'), nonce: buyNonce(order) },
  })
})

it('openBuyFor is the one way to use the signature: nobody else can take the USDC', async () => {
  const order = await opening({})
  const signature = sign(order)
  const [r, s] = [signature.slice(0, 66), `0x${signature.slice(66, 130)}`]
  const v = Number(`0x${signature.slice(130)}`)
  const { amount, validBefore } = order
  const args = [account('alice'), chain().addressOf('escrow'), amount, 0, validBefore, buyNonce(order)]
  const asDave = (method: string, ...values: unknown[]) =>
    chain().revert('dave', 'usdc', method, ...values, v, r, s)
  // The recipient has to be the caller.
  expect(await asDave('receiveWithAuthorization', ...args)).toMatchObject({ name: 'ERC20InvalidReceiver' })
  expect(await asDave('transferWithAuthorization', ...args)).toEqual(NOT_SIGNED)
  const toDave = args.with(1, account('dave'))
  expect(await asDave('receiveWithAuthorization', ...toDave)).toEqual(NOT_SIGNED)
})

it('a signature of the other kind opens nothing', async () => {
  const buy = await opening({})
  const request = { ...buy, amount: 0n }
  expect(await revert(buy, sign(request))).toEqual(NOT_SIGNED)
  expect((await revert(request, sign(buy)))?.name).toBe('NotSignedByAccount')
})

it('the zero account has signed nothing', async () => {
  const request = await opening({ amount: 0n, account: ZERO_ADDRESS })
  const junk: Hex = `0x${'00'.repeat(64)}1b`
  expect((await revert(request, junk))?.name).toBe('ECDSAInvalidSignature')
})
