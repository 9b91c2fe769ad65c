import { describe, expect, it, onTestFinished } from 'vitest'
import type { Hex } from '../../src/protocol/hex.js'
import { startTestChain, type TestChain, useChain } from '../support/chain.js'
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
import type { Role } from '../support/roles.js'
import { deployForwarder } from './fixtures/forwarder.js'

const chain = useChain(setUpInstitution)

const ID = bytes32('an order')
const COMMIT = bytes32('its sealed intent')
const MAX_LIFETIME = 30 * DAY
const ZERO: Hex = `0x${'00'.repeat(20)}`

const account = (role: Role): Hex => chain().account(role)
const send = (from: Role, method: string, ...args: unknown[]) => chain().send(from, 'escrow', method, ...args)
const read = (method: string, ...args: unknown[]) => chain().read('escrow', method, ...args)
const revert = (from: Role, method: string, ...args: unknown[]) =>
  chain().revert(from, 'escrow', method, ...args)
const usdcOf = (address: Hex) => chain().read('usdc', 'balanceOf', address)

it('openBuy takes the USDC and stores the order', async () => {
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
    ZERO_BYTES32,
    0n,
  ])
  expect(await usdcOf(account('alice'))).toBe(FUNDS - usd(1_000))
  expect(await usdcOf(chain().addressOf('escrow'))).toBe(usd(1_000))
  expect(await read('openOrders')).toBe(1n)
  expect(await read('escrowed')).toBe(usd(1_000))
  expect(await read('openOrdersOf', ORG)).toBe(1n)
  expect(await read('openOrdersBy', account('alice'))).toBe(1n)
})

it('openBuy opens for a contract that calls it, and takes that contract’s USDC, not that of the transaction’s signer', async () => {
  const { address, call } = await deployForwarder(chain())
  await chain().send('owner', 'token', 'setKyc', address, true)
  await chain().send('admin', 'registry', 'setMember', address, true)
  await call('registry', 'join', ORG)
  await chain().send('alice', 'usdc', 'transfer', address, usd(5))
  await call('usdc', 'approve', chain().addressOf('escrow'), usd(5))
  const deadline = await soon(chain())
  await call('escrow', 'openBuy', ID, COMMIT, usd(5), deadline)
  expect(await read('orders', ID)).toEqual([
    ...[address, usd(5), BigInt(deadline), COMMIT, ORG, 1n, ZERO_BYTES32, 0n],
  ])
  expect(await usdcOf(address)).toBe(0n)
  const request = bytes32('a request')
  await call('escrow', 'openRequest', request, COMMIT, deadline)
  expect(await read('orders', request)).toEqual([
    ...[address, 0n, BigInt(deadline), COMMIT, ORG, 1n, ZERO_BYTES32, 0n],
  ])
})

it('openBuy refuses a wallet in no institution, or only invited to one', async () => {
  const deadline = await soon(chain())
  const refusal = { name: 'NotAdmitted', args: { orgId: ZERO_BYTES32 } }
  expect(await revert('carol', 'openBuy', ID, COMMIT, usd(1), deadline)).toEqual(refusal)
  await chain().send('admin', 'registry', 'setMember', account('carol'), true)
  expect(await revert('carol', 'openBuy', ID, COMMIT, usd(1), deadline)).toEqual(refusal)
  await chain().send('carol', 'registry', 'join', ORG)
  expect(await revert('carol', 'openBuy', ID, COMMIT, usd(1), deadline)).toBeNull()
})

it('openBuy refuses more than the escrow can count, whatever the wallet holds', async () => {
  const amount = 2n ** 192n
  await chain().send('alice', 'usdc', 'mint', account('alice'), amount)
  await chain().send('alice', 'usdc', 'approve', chain().addressOf('escrow'), amount)
  expect(await revert('alice', 'openBuy', ID, COMMIT, amount, await soon(chain()))).toEqual({
    name: 'SafeCastOverflowedUintDowncast',
    args: { bits: '192', value: `${amount}` },
  })
  await send('alice', 'openBuy', ID, COMMIT, amount - 1n, await soon(chain()))
  expect(await read('escrowed')).toBe(amount - 1n)
})

it('openRequest stores an order of amount 0 and moves no USDC', async () => {
  const deadline = await soon(chain())
  const receipt = await send('alice', 'openRequest', ID, COMMIT, deadline)
  expect(chain().events(receipt)).toEqual([
    { contract: 'escrow', name: 'OrderOpened', args: [ID, account('alice'), 0n, BigInt(deadline), COMMIT] },
  ])
  expect(await read('orders', ID)).toEqual([
    account('alice'),
    0n,
    BigInt(deadline),
    COMMIT,
    ORG,
    1n,
    ZERO_BYTES32,
    0n,
  ])
  expect(await usdcOf(account('alice'))).toBe(FUNDS)
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

  it('refuses an id whose first 16 bytes were used before, and names the account that used them', async () => {
    const id: Hex = `0x${'ab'.repeat(32)}`
    expect(await read('takenBy', `0x${'ab'.repeat(16)}`)).toBe(ZERO)
    await send('alice', 'openRequest', id, COMMIT, await soon(chain()))
    expect(await read('takenBy', `0x${'ab'.repeat(16)}`)).toBe(account('alice'))
    const deadline = await soon(chain())
    const samePrefix: Hex = `0x${'ab'.repeat(16)}${'00'.repeat(16)}`
    for (const taken of [id, samePrefix]) {
      for (const role of ['alice', 'bob'] as const) {
        expect(await revert(role, method, ...args(taken, deadline))).toEqual({
          name: 'OrderIdTaken',
          args: { orderId: taken, by: account('alice') },
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

it('deployedAt is the time of the block that the escrow was created in', async () => {
  // A chain of its own: the other tests' begins with a saved state, which has no earlier blocks.
  const own = await startTestChain()
  onTestFinished(own.stop)
  const created = await own.provider.getBlock(await firstBlockWithCode(own))
  expect(await own.read('escrow', 'deployedAt')).toBe(BigInt(created?.timestamp ?? 0))
})

async function firstBlockWithCode({ provider, addressOf }: TestChain): Promise<number> {
  for (let number = 0; ; number++) {
    if ((await provider.getCode(addressOf('escrow'), number)) !== '0x') return number
  }
}
