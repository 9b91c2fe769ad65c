import { expect, it } from 'vitest'
import { type Hex, ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { signedCall } from '../support/authorizations.js'
import { TEST_DELAYS, useChain } from '../support/chain.js'
import { AAPL, DAY, ORG, openBuy, usd } from '../support/institution.js'
import { type OneOfEach, setUpOneOfEach } from '../support/oneOfEach.js'
import type { Role } from '../support/roles.js'

const { pause: PAUSE } = TEST_DELAYS

let one: OneOfEach
const chain = useChain(
  async (set) => {
    one = await setUpOneOfEach(set)
  },
  { delays: { rotation: DAY } },
)

const account = (role: Role): Hex => chain().account(role)
const read = (method: string, ...args: unknown[]) => chain().read('authority', method, ...args)
const revert = (from: Role, method: string, ...args: unknown[]) =>
  chain().revert(from, 'authority', method, ...args)
const send = (from: Role, method: string, ...args: unknown[]) =>
  chain().send(from, 'authority', method, ...args)
/** Pauses, and returns when it ends. */
async function pause(): Promise<number> {
  await send('guardian', 'pause')
  return (await chain().now()) + PAUSE
}
const paused = (until: number) => ({ name: 'PlatformPaused', args: { until: `${until}` } })
it('pause is the guardian’s at once, and ends by itself, to the second', async () => {
  expect(await read('pausedUntil')).toBe(0n)
  const receipt = await send('guardian', 'pause')
  const until = (await chain().now()) + PAUSE
  expect(chain().events(receipt)).toEqual([{ contract: 'authority', name: 'Paused', args: [BigInt(until)] }])
  await chain().mineAt(until - 1)
  expect(await read('pausedUntil')).toBe(BigInt(until))
  expect(await revert('bob', 'requireNotPaused')).toEqual(paused(until))
  await chain().mineAt(until)
  expect(await read('pausedUntil')).toBe(0n)
  expect(await revert('bob', 'requireNotPaused')).toBeNull()
})

it('liftPause is the owner’s alone, and ends the pause in its block', async () => {
  await pause()
  for (const role of ['guardian', 'admin'] as const) {
    expect(await revert(role, 'liftPause')).toEqual({
      name: 'NotOwner',
      args: { expected: account('owner'), caller: account(role) },
    })
  }
  const receipt = await send('owner', 'liftPause')
  expect(chain().events(receipt)).toEqual([{ contract: 'authority', name: 'PauseLifted', args: [] }])
  expect(await read('pausedUntil')).toBe(0n)
  expect(await chain().revert('relayer', ...signedCall(chain(), one.of('OrderSettlement')))).toBeNull()
})

it('a lifted pause costs no interval; one that ran out does', async () => {
  await pause()
  await send('owner', 'liftPause')
  const until = await pause()
  expect(await revert('guardian', 'pause')).toMatchObject({ name: 'PauseTooEarly' })
  await chain().mineAt(until)
  expect(await revert('guardian', 'pause')).toMatchObject({ name: 'PauseTooEarly' })
  await chain().mineAt(until + 30 * DAY - 1)
  expect(await revert('guardian', 'pause')).toMatchObject({ name: 'PauseTooEarly' })
  await chain().mineAt(until + 30 * DAY)
  expect(await revert('guardian', 'pause')).toBeNull()
})

it('a pause that ran out is followed at once by another while a signer is replaced', async () => {
  await chain().mineAt(await pause())
  await send('owner', 'rotateSigner', account('dave'), ZERO_BYTES32, ZERO_BYTES32)
  const again = await pause()
  expect(await read('pausedUntil')).toBe(BigInt(again))
})

it('while a pause lasts the owner still sets flags, moves the treasury, admits and rotates; members come and go, and reclaim', async () => {
  await chain().send('alice', 'usdc', 'approve', chain().addressOf('pool'), 1n)
  const orderId = await openBuy(chain(), 'bob', 'an unanswered buy', usd(100))
  await chain().mineAt((await chain().now()) + 8 * DAY)
  await pause()
  await chain().send('alice', 'pool', 'fund', 1n)
  await chain().send('owner', 'pool', 'transferTreasury', 1n)
  await chain().send('owner', 'token', 'setKyc', account('dave'), true)
  await chain().send('owner', 'token', 'setFrozen', AAPL, account('dave'), true)
  await chain().send('carol', 'registry', 'registerInstitution', nameToBytes32('Borealis'))
  await chain().send('owner', 'registry', 'setAdmitted', ORG, account('admin'), false)
  await send('owner', 'rotateSigner', account('dave'), ZERO_BYTES32, ZERO_BYTES32)
  await chain().send('bob', 'escrow', 'reclaim', orderId)
  await expect(openBuy(chain(), 'bob', 'another buy', usd(100))).rejects.toThrow()
  await chain().send('bob', 'registry', 'leaveInstitution')
  await chain().send('admin', 'registry', 'setMember', account('alice'), false)
  expect(await chain().read('registry', 'walletCount', ORG)).toBe(0n)
})
