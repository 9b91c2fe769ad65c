import { expect, it } from 'vitest'
import { type Hex, ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { signedCall } from '../support/authorizations.js'
import { TEST_DELAYS, useChain } from '../support/chain.js'
import { AAPL, DAY, ORG } from '../support/institution.js'
import { type OneOfEach, PRIMARY_TYPES, setUpOneOfEach } from '../support/oneOfEach.js'
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

it('pause is the guardian’s alone: not the owner’s, not the admin’s', async () => {
  for (const role of ['owner', 'admin', 'relayer'] as const) {
    expect(await revert(role, 'pause')).toEqual({
      name: 'NotGuardian',
      args: { expected: account('guardian'), caller: account(role) },
    })
  }
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

it('a lifted pause costs no interval; one that ran out does, but for the time in which a signer is replaced', async () => {
  await pause()
  await send('owner', 'liftPause')
  const until = await pause()
  expect(await revert('guardian', 'pause')).toMatchObject({ name: 'PauseTooEarly' })
  await chain().mineAt(until)
  expect(await revert('guardian', 'pause')).toMatchObject({ name: 'PauseTooEarly' })
  await send('owner', 'rotateSigner', account('dave'), ZERO_BYTES32, ZERO_BYTES32)
  const again = await pause()
  expect(await read('pausedUntil')).toBe(BigInt(again))
})

it.each(PRIMARY_TYPES)(
  'while a pause lasts nothing that the enclave signs takes effect (%s), and nothing is used up',
  async (type) => {
    const call = signedCall(chain(), one.of(type))
    const until = await pause()
    expect(await chain().revert('relayer', ...call)).toEqual(paused(until))
    await expect(chain().send('relayer', ...call)).rejects.toThrow(/reverted/)
    await chain().mineAt(until)
    expect(await chain().revert('relayer', ...call)).toBeNull()
  },
)

it('while a pause lasts the owner still sets flags, moves the treasury, admits and rotates; members come and go', async () => {
  await chain().send('alice', 'usdc', 'approve', chain().addressOf('pool'), 1n)
  await pause()
  await chain().send('alice', 'pool', 'fund', 1n)
  await chain().send('owner', 'pool', 'transferTreasury', 1n)
  await chain().send('owner', 'token', 'setKyc', account('dave'), true)
  await chain().send('owner', 'token', 'setFrozen', AAPL, account('dave'), true)
  await chain().send('carol', 'registry', 'registerInstitution', nameToBytes32('Borealis'))
  await chain().send('owner', 'registry', 'setAdmitted', ORG, account('admin'), false)
  await send('owner', 'rotateSigner', account('dave'), ZERO_BYTES32, ZERO_BYTES32)
  await chain().send('bob', 'registry', 'leaveInstitution')
  await chain().send('admin', 'registry', 'setMember', account('alice'), false)
  expect(await chain().read('registry', 'walletCount', ORG)).toBe(0n)
})
