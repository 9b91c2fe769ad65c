// What the invariants (contracts/test) do not ask of the platform's roles: events, names of refusals, bounds, and the signer of every authorization.
import { ContractFactory, type InterfaceAbi } from 'ethers'
import { describe, expect, it } from 'vitest'
import { authorityAbi } from '../../src/chain/generated/authorityAbi.js'
import { authorityBytecode, institutionRegistryBytecode } from '../../src/chain/generated/bytecode.js'
import { institutionRegistryAbi } from '../../src/chain/generated/institutionRegistryAbi.js'
import { revertOf } from '../../src/chain/reverts.js'
import { type Hex, ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { batchMint, callWith, digestOf, domainOf, signedCall } from '../support/authorizations.js'
import { type ContractKey, TEST_DELAYS, useChain } from '../support/chain.js'
import { AAPL, DAY, ORG, openBuy, shares, usd } from '../support/institution.js'
import { type OneOfEach, PRIMARY_TYPES, setUpOneOfEach } from '../support/oneOfEach.js'
import { ENCLAVE_SIGNER } from '../support/roles.js'
import { callsOf } from './fixtures/calls.js'

const ZERO: Hex = `0x${'00'.repeat(20)}`
const NEXT_KEY: Hex = `0x${'e2'.repeat(32)}`
/** The address of `NEXT_KEY`. */
const NEXT_SIGNER: Hex = '0x7F00CA392c246f3cE6f696c0a687BCce0c3af9F7'
const ROTATION = 2 * DAY
const SIGNER_ROLE = 2n
const MEASUREMENT: Hex = `0x${'aa'.repeat(32)}`
const PROGRAM = [MEASUREMENT, `0x${'bb'.repeat(32)}`]
/** The program of a signer that is not attested. */
const UNATTESTED = [ZERO_BYTES32, ZERO_BYTES32]

let one: OneOfEach
const chain = useChain(
  async (set) => {
    one = await setUpOneOfEach(set)
  },
  { delays: { rotation: ROTATION } },
)
const { account, send, read, revert, toldBy } = callsOf(chain, 'authority')
const own = (method: string, ...args: unknown[]) => send('owner', method, ...args)
const pass = async (seconds: number) => chain().mineAt((await chain().now()) + seconds)

it.each([
  ['rotateOwner', 'owner', 0n, []],
  ['rotateGuardian', 'guardian', 1n, []],
  ['rotateSigner', 'enclaveSigner', SIGNER_ROLE, UNATTESTED],
] as const)(
  '%s takes effect by itself after the rotation delay, to the second, unless it is withdrawn',
  async (method, view, role, also) => {
    const [holder, dave] = [await read(view), account('dave')]
    expect(await revert('owner', 'withdrawRotation', role)).toMatchObject({ name: 'NoRotation' })
    await own(method, dave, ...also)
    expect(await toldBy(own('withdrawRotation', role))).toEqual([['RotationWithdrawn', role]])
    await pass(ROTATION)
    expect(await read(view)).toBe(holder)
    const told = await toldBy(own(method, dave, ...also))
    const effectiveAt = (await chain().now()) + ROTATION
    expect(told).toEqual([['RotationScheduled', role, holder, dave, BigInt(effectiveAt), ...UNATTESTED]])
    expect(await read('pendingRotation', role)).toEqual([dave, BigInt(effectiveAt)])
    await chain().mineAt(effectiveAt - 1)
    expect(await read(view)).toBe(holder)
    await chain().mineAt(effectiveAt)
    expect([await read(view), await read('pendingRotation', role)]).toEqual([dave, [ZERO, 0n]])
  },
)

const OWNED: [ContractKey, string, ...unknown[]][] = [
  ['token', 'setKyc', NEXT_SIGNER, true],
  ['token', 'setListed', AAPL, false],
  ['token', 'setFrozen', AAPL, NEXT_SIGNER, true],
  ['escrow', 'approveClaimRecipient', NEXT_SIGNER, AAPL, NEXT_SIGNER],
  ['pool', 'transferTreasury', 1n],
  ['authority', 'rotateOwner', NEXT_SIGNER],
  ['authority', 'rotateGuardian', NEXT_SIGNER],
  ['authority', 'rotateSigner', NEXT_SIGNER, ...UNATTESTED],
]

it('a rotation of the owner moves every right of the owner, in all contracts, at one moment', async () => {
  await chain().send('alice', 'usdc', 'approve', chain().addressOf('pool'), 1n)
  await chain().send('alice', 'pool', 'fund', 1n)
  const owned = [...OWNED, ['registry', 'setAdmitted', ORG, account('admin'), false] as const]
  await own('rotateOwner', account('dave'))
  const effectiveAt = (await chain().now()) + ROTATION
  for (const [time, holder, other] of [
    [effectiveAt - 1, 'owner', 'dave'],
    [effectiveAt, 'dave', 'owner'],
  ] as const) {
    await chain().mineAt(time)
    const refusal = { name: 'NotOwner', args: { expected: account(holder), caller: account(other) } }
    for (const [contract, method, ...args] of owned) {
      expect(await chain().revert(holder, contract, method, ...args), method).toBeNull()
      expect(await chain().revert(other, contract, method, ...args), method).toEqual(refusal)
    }
  }
})

describe.each(PRIMARY_TYPES)('an authorization (%s)', (type) => {
  const byNew = () => signedCall(chain(), one.of(type), { key: NEXT_KEY, domain: domainOf(chain(), type) })

  // No other digest than the one of all its members, this chain and this contract recovers the signer.
  it('takes effect, marks its digest, and never takes effect again', async () => {
    const [digest, call] = [digestOf(chain(), one.of(type)), signedCall(chain(), one.of(type))]
    await chain().send('dave', ...call)
    expect(await chain().read(call[0], 'usedDigest', digest)).toBe(true)
    expect(await chain().revert('relayer', ...call)).toEqual({ name: 'DigestUsed', args: { digest } })
  })

  it('is the present signer’s: a rotation voids what the former one signed', async () => {
    const byOld = signedCall(chain(), one.of(type))
    const invalid = (expected: Hex, got: Hex) => ({ name: 'InvalidSigner', args: { expected, got } })
    expect(await chain().revert('relayer', ...byNew())).toEqual(invalid(ENCLAVE_SIGNER, NEXT_SIGNER))
    await own('rotateSigner', NEXT_SIGNER, ...UNATTESTED)
    await pass(ROTATION)
    expect(await chain().revert('relayer', ...byOld)).toEqual(invalid(NEXT_SIGNER, ENCLAVE_SIGNER))
    expect(await chain().revert('relayer', ...byNew())).toBeNull()
  })
})

describe("the signer's program", () => {
  const programs = async () => [await read('signerProgram'), await read('pendingProgram')]

  it('is announced with the rotation, takes effect with it, and stays when a later one is withdrawn', async () => {
    const [scheduled] = await toldBy(own('rotateSigner', NEXT_SIGNER, ...PROGRAM))
    expect(scheduled?.slice(5)).toEqual(PROGRAM)
    expect(await programs()).toEqual([UNATTESTED, PROGRAM])
    await pass(ROTATION)
    expect(await programs()).toEqual([PROGRAM, UNATTESTED])
    await own('rotateSigner', ENCLAVE_SIGNER, ...UNATTESTED)
    await own('withdrawRotation', SIGNER_ROLE)
    await pass(ROTATION)
    expect(await read('signerProgram')).toEqual(PROGRAM)
  })

  it('is whole or none, and revoked by the guardian alone, at once and finally; the signer in force stays', async () => {
    for (const program of [PROGRAM.with(0, ZERO_BYTES32), PROGRAM.with(1, ZERO_BYTES32)])
      expect(await revert('owner', 'rotateSigner', NEXT_SIGNER, ...program)).toMatchObject({
        name: 'IncompleteProgram',
      })
    await own('rotateSigner', NEXT_SIGNER, ...PROGRAM)
    expect(await revert('owner', 'revokeMeasurement', MEASUREMENT)).toMatchObject({ name: 'NotGuardian' })
    expect(await revert('guardian', 'revokeMeasurement', ZERO_BYTES32)).not.toBeNull()
    const told = await toldBy(send('guardian', 'revokeMeasurement', MEASUREMENT))
    expect(told).toEqual([['MeasurementRevoked', MEASUREMENT]])
    expect(await read('isRevoked', MEASUREMENT)).toBe(true)
    const refusal = { name: 'RevokedMeasurement', args: { measurement: MEASUREMENT } }
    expect(await revert('owner', 'rotateSigner', NEXT_SIGNER, ...PROGRAM)).toEqual(refusal)
    await pass(ROTATION)
    expect(await read('enclaveSigner')).toBe(NEXT_SIGNER)
  })
})

// An attested enclave's key is born after the deployment.
describe('a deployment that names no signer', () => {
  const early = useChain(undefined, { delays: { rotation: ROTATION }, enclaveSigner: null })
  const first = callsOf(early, 'authority')

  it.each(PRIMARY_TYPES)('takes nothing that nobody has signed (%s)', async (type) => {
    expect(await early().revert('relayer', ...signedCall(early(), one.of(type)))).toEqual({
      name: 'InvalidSigner',
      args: { expected: ZERO, got: ENCLAVE_SIGNER },
    })
    // The precompile recovers nobody of these, which reads as zero: no point of the curve has this r, and there is no such v.
    for (const [r, v] of [
      [5n, 27],
      [0n, 27],
      [1n, 29],
    ] as const) {
      const [rHex, sHex] = [r, 1n].map((each) => each.toString(16).padStart(64, '0'))
      const call = callWith(one.of(type), `0x${rHex}${sHex}${v.toString(16)}`)
      expect(await early().revert('relayer', ...call)).toMatchObject({ name: 'ECDSAInvalidSignature' })
    }
  })

  it('has its first one in force at once, with its program, and the next one after the rotation delay', async () => {
    await early().send('owner', 'token', 'setListed', AAPL, true)
    const told = await first.toldBy(first.send('owner', 'rotateSigner', ENCLAVE_SIGNER, ...PROGRAM))
    const now = BigInt(await early().now())
    expect(told).toEqual([['RotationScheduled', SIGNER_ROLE, ZERO, ENCLAVE_SIGNER, now, ...PROGRAM]])
    expect(await first.read('signerProgram')).toEqual(PROGRAM)
    expect(await early().revert('relayer', ...signedCall(early(), batchMint(AAPL, shares(9))))).toBeNull()
    await first.send('owner', 'rotateSigner', early().account('dave'), ...UNATTESTED)
    expect(await first.read('enclaveSigner')).toBe(ENCLAVE_SIGNER)
    await first.send('owner', 'withdrawRotation', SIGNER_ROLE)
    expect(await first.read('signerProgram')).toEqual(PROGRAM)
  })
})

it('a pause is the guardian’s at once, and ends by itself, to the second; the next one comes after its interval', async () => {
  const told = await toldBy(send('guardian', 'pause'))
  const until = (await chain().now()) + TEST_DELAYS.pause
  expect(told).toEqual([['Paused', BigInt(until)]])
  await chain().mineAt(until - 1)
  const paused = { name: 'PlatformPaused', args: { until: `${until}` } }
  expect(await revert('bob', 'requireNotPaused')).toEqual(paused)
  await chain().mineAt(until)
  expect([await read('pausedUntil'), await revert('bob', 'requireNotPaused')]).toEqual([0n, null])
  await chain().mineAt(until + 30 * DAY - 1)
  expect(await revert('guardian', 'pause')).toMatchObject({ name: 'PauseTooEarly' })
  await chain().mineAt(until + 30 * DAY)
  await send('guardian', 'pause')
  expect(await toldBy(own('liftPause'))).toEqual([['PauseLifted']])
  expect(await read('pausedUntil')).toBe(0n)
})

it('while a pause lasts the owner still sets flags, moves the treasury, admits and rotates; members come and go, and reclaim', async () => {
  await chain().send('alice', 'usdc', 'approve', chain().addressOf('pool'), 1n)
  const orderId = await openBuy(chain(), 'bob', 'an unanswered buy', usd(100))
  await pass(8 * DAY)
  await send('guardian', 'pause')
  await expect(openBuy(chain(), 'bob', 'another buy', usd(100))).rejects.toThrow()
  await chain().send('alice', 'pool', 'fund', 1n)
  for (const [contract, method, ...args] of OWNED) await chain().send('owner', contract, method, ...args)
  await chain().send('carol', 'registry', 'registerInstitution', nameToBytes32('Borealis'))
  await chain().send('owner', 'registry', 'setAdmitted', ORG, account('admin'), false)
  await chain().send('bob', 'escrow', 'reclaim', orderId)
  await chain().send('bob', 'registry', 'leaveInstitution')
  await chain().send('admin', 'registry', 'setMember', account('alice'), false)
  expect(await chain().read('registry', 'walletCount', ORG)).toBe(0n)
})

/** The revert of a deployment, null where it succeeds. */
async function deploying(abi: InterfaceAbi, bytecode: string, ...args: unknown[]) {
  const { data } = await new ContractFactory([...abi], bytecode).getDeployTransaction(...args)
  try {
    await chain().provider.send('eth_call', [{ from: account('deployer'), data }, 'latest'])
    return null
  } catch (cause) {
    return revertOf(cause)
  }
}

it('a deployment has rotation delay < longest pause < reclaim delay', async () => {
  const deploys = (...delays: [rotation: number, pause: number]) => {
    const [usdc, pool] = [chain().addressOf('usdc'), chain().addressOf('pool')]
    const roles = [account('owner'), account('guardian'), NEXT_SIGNER]
    return deploying(authorityAbi, authorityBytecode, ...roles, ...delays, usdc, pool)
  }
  expect(await deploys(0, 1)).toBeNull()
  expect(await deploys(7 * DAY - 2, 7 * DAY - 1)).toBeNull()
  for (const [rotation, pause] of [
    [0, 0],
    [DAY, DAY],
    [DAY + 1, DAY],
    [0, 7 * DAY],
    [7 * DAY, 7 * DAY + 1],
  ] as const) {
    expect(await deploys(rotation, pause)).toEqual({
      name: 'DelaysOutOfOrder',
      args: { rotationDelay: `${rotation}`, maxPause: `${pause}`, reclaimDelay: `${7 * DAY}` },
    })
  }
})

it('a deployment lets no leaving take longer than 30 days', async () => {
  const others = (['authority', 'usdc', 'pool', 'ledger'] as const).map((key) => chain().addressOf(key))
  const deploys = (leaveDelay: number | bigint) =>
    deploying(institutionRegistryAbi, institutionRegistryBytecode, ...others, leaveDelay)
  expect(await deploys(30 * DAY)).toBeNull()
  for (const leaveDelay of [30 * DAY + 1, 2n ** 64n - 1n]) {
    expect(await deploys(leaveDelay)).toEqual({
      name: 'LeaveDelayTooLong',
      args: { leaveDelay: `${leaveDelay}`, longest: `${30 * DAY}` },
    })
  }
})
