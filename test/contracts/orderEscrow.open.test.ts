import { describe, expect, it } from 'vitest'
import type { Hex } from '../../src/protocol/hex.js'
import { useChain } from '../support/chain.js'
import {
  bytes32,
  DAY,
  FUNDS,
  ORG,
  openBuy,
  openRequest,
  setUpInstitution,
  soon,
  usd,
  ZERO_BYTES32,
} from '../support/institution.js'
import type { Role } from '../support/roles.js'

const chain = useChain(setUpInstitution)

const ID = bytes32('an order')
const COMMIT = bytes32('its sealed intent')
const MAX_LIFETIME = 30 * DAY

const account = (role: Role): Hex => chain().account(role)
const send = (from: Role, method: string, ...args: unknown[]) => chain().send(from, 'escrow', method, ...args)
const read = (method: string, ...args: unknown[]) => chain().read('escrow', method, ...args)
const revert = (from: Role, method: string, ...args: unknown[]) =>
  chain().revert(from, 'escrow', method, ...args)
const usdcOf = (address: Hex) => chain().read('usdc', 'balanceOf', address)

describe('openBuy', () => {
  it('takes the USDC and stores the order', async () => {
    const deadline = await soon(chain())
    const receipt = await send('alice', 'openBuy', ID, COMMIT, usd(1_000), deadline)
    const events = chain()
      .events(receipt)
      .filter(({ contract }) => contract === 'escrow')
    expect(events).toEqual([
      {
        contract: 'escrow',
        name: 'OrderOpened',
        args: [ID, account('alice'), usd(1_000), BigInt(deadline), COMMIT],
      },
    ])
    expect(await read('orders', ID)).toEqual([
      account('alice'),
      usd(1_000),
      BigInt(deadline),
      COMMIT,
      ORG,
      1n,
    ])
    expect(await usdcOf(account('alice'))).toBe(FUNDS - usd(1_000))
    expect(await usdcOf(chain().addressOf('escrow'))).toBe(usd(1_000))
    expect(await read('openOrders')).toBe(1n)
    expect(await read('openOrdersOf', ORG)).toBe(1n)
    expect(await read('openOrdersBy', account('alice'))).toBe(1n)
  })

  it('is open to the admin too', async () => {
    await openBuy(chain(), 'admin', 'by the admin', usd(5))
    expect(await read('openOrdersBy', account('admin'))).toBe(1n)
    expect(await usdcOf(chain().addresses.orderEscrow)).toBe(usd(5))
  })

  it('refuses a wallet in no institution, or only invited to one', async () => {
    const deadline = await soon(chain())
    const refusal = { name: 'NotCleared', args: { wallet: account('carol') } }
    expect(await revert('carol', 'openBuy', ID, COMMIT, usd(1), deadline)).toEqual(refusal)
    await chain().send('admin', 'registry', 'setMember', account('carol'), true)
    expect(await revert('carol', 'openBuy', ID, COMMIT, usd(1), deadline)).toEqual(refusal)
    await chain().send('carol', 'registry', 'join', ORG)
    expect(await revert('carol', 'openBuy', ID, COMMIT, usd(1), deadline)).toBeNull()
  })

  it('refuses a wallet that was removed from its institution', async () => {
    await chain().send('admin', 'registry', 'setMember', account('alice'), false)
    expect(await revert('alice', 'openBuy', ID, COMMIT, usd(1), await soon(chain()))).toMatchObject({
      name: 'NotCleared',
    })
  })

  it('refuses nothing for an amount', async () => {
    expect(await revert('alice', 'openBuy', ID, COMMIT, 0n, await soon(chain()))).toEqual({
      name: 'ZeroAmount',
      args: {},
    })
  })

  it('refuses what the wallet has not approved, or does not hold', async () => {
    const deadline = await soon(chain())
    expect(await revert('alice', 'openBuy', ID, COMMIT, FUNDS + 1n, deadline)).toMatchObject({
      name: 'ERC20InsufficientAllowance',
    })
    await chain().send('alice', 'usdc', 'approve', chain().addressOf('escrow'), FUNDS + 1n)
    expect(await revert('alice', 'openBuy', ID, COMMIT, FUNDS + 1n, deadline)).toMatchObject({
      name: 'ERC20InsufficientBalance',
    })
  })
})

describe('openRequest', () => {
  it('stores an order of amount 0 and moves no USDC', async () => {
    const deadline = await soon(chain())
    const receipt = await send('alice', 'openRequest', ID, COMMIT, deadline)
    expect(chain().events(receipt)).toEqual([
      { contract: 'escrow', name: 'OrderOpened', args: [ID, account('alice'), 0n, BigInt(deadline), COMMIT] },
    ])
    expect(await read('orders', ID)).toEqual([account('alice'), 0n, BigInt(deadline), COMMIT, ORG, 1n])
    expect(await usdcOf(account('alice'))).toBe(FUNDS)
  })

  it('is open to a wallet in no institution, under institution zero', async () => {
    await openRequest(chain(), 'carol', 'a sale')
    expect(await read('openOrdersOf', ZERO_BYTES32)).toBe(1n)
    expect(await read('openOrdersOf', ORG)).toBe(0n)
  })

  it('keeps the institution of its opening', async () => {
    const orderId = await openRequest(chain(), 'alice', 'a sale')
    await chain().send('admin', 'registry', 'setMember', account('alice'), false)
    expect(await read('orders', orderId)).toContain(ORG)
    expect(await read('openOrdersOf', ORG)).toBe(1n)
  })
})

describe.each([
  ['openBuy', (id: Hex, deadline: number | bigint) => [id, COMMIT, 1n, deadline]],
  ['openRequest', (id: Hex, deadline: number | bigint) => [id, COMMIT, deadline]],
] as const)('%s', (method, args) => {
  it('refuses a wallet without KYC', async () => {
    await chain().send('owner', 'token', 'setKyc', account('alice'), false)
    expect(await revert('alice', method, ...args(ID, await soon(chain())))).toEqual({
      name: 'NotCleared',
      args: { wallet: account('alice') },
    })
  })

  it('takes a deadline from the next second to 30 days, no other', async () => {
    // Calls run in a block of the time of the last one.
    const now = await chain().now()
    const outOfRange = (deadline: bigint) => ({
      name: 'DeadlineOutOfRange',
      args: { deadline: `${deadline}`, currentTime: `${now}`, latest: `${now + MAX_LIFETIME}` },
    })
    for (const deadline of [0n, BigInt(now), BigInt(now + MAX_LIFETIME + 1), 2n ** 64n - 1n]) {
      expect(await revert('alice', method, ...args(ID, deadline))).toEqual(outOfRange(deadline))
    }
    expect(await revert('alice', method, ...args(ID, now + 1))).toBeNull()
    expect(await revert('alice', method, ...args(ID, now + MAX_LIFETIME))).toBeNull()
  })

  it('allows 20 open orders an account, and a 21st after one has ended', async () => {
    const opened: Hex[] = []
    for (let index = 0; index < 20; index++) {
      opened.push(await openRequest(chain(), 'alice', `order ${index}`))
    }
    expect(await revert('alice', method, ...args(ID, await soon(chain())))).toEqual({
      name: 'TooManyOpenOrders',
      args: { account: account('alice'), open: '20', limit: '20' },
    })
    expect(await revert('bob', method, ...args(ID, await soon(chain())))).toBeNull()
    await chain().mineAt((await chain().now()) + 8 * DAY)
    await send('alice', 'reclaim', opened[7])
    expect(await revert('alice', method, ...args(ID, await soon(chain())))).toBeNull()
  })

  it('refuses an id whose first 16 bytes were used before, by whomever, ended or not', async () => {
    const id: Hex = `0x${'ab'.repeat(32)}`
    await send('alice', 'openRequest', id, COMMIT, await soon(chain()))
    const deadline = await soon(chain())
    const samePrefix: Hex = `0x${'ab'.repeat(16)}${'00'.repeat(16)}`
    for (const taken of [id, samePrefix]) {
      for (const role of ['alice', 'bob'] as const) {
        expect(await revert(role, method, ...args(taken, deadline))).toEqual({
          name: 'OrderIdTaken',
          args: { orderId: taken },
        })
      }
    }
    const sameSuffix: Hex = `0x${'ab'.repeat(15)}ac${'ab'.repeat(16)}`
    expect(await revert('alice', method, ...args(sameSuffix, deadline))).toBeNull()
    await chain().mineAt(deadline + 8 * DAY)
    await send('alice', 'reclaim', id)
    expect(await revert('alice', method, ...args(id, await soon(chain())))).toMatchObject({
      name: 'OrderIdTaken',
    })
  })
})

describe('orders', () => {
  it('answers NONE for an order that nobody opened', async () => {
    expect(await read('orders', ID)).toEqual([`0x${'00'.repeat(20)}`, 0n, 0n, ZERO_BYTES32, ZERO_BYTES32, 0n])
  })
})
