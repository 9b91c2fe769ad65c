import { ContractFactory, type InterfaceAbi } from 'ethers'
import { describe, expect, it } from 'vitest'
import { authorityAbi } from '../../src/chain/generated/authorityAbi.js'
import { authorityBytecode, institutionRegistryBytecode } from '../../src/chain/generated/bytecode.js'
import { institutionRegistryAbi } from '../../src/chain/generated/institutionRegistryAbi.js'
import { revertOf } from '../../src/chain/reverts.js'
import { type Hex, ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { domainOf, signedCall } from '../support/authorizations.js'
import { type ContractKey, useChain } from '../support/chain.js'
import { AAPL, DAY, ORG } from '../support/institution.js'
import { type OneOfEach, PRIMARY_TYPES, setUpOneOfEach } from '../support/oneOfEach.js'
import { ENCLAVE_SIGNER, type Role } from '../support/roles.js'

const ZERO: Hex = `0x${'00'.repeat(20)}`
const NEXT_KEY: Hex = `0x${'e2'.repeat(32)}`
/** The address of `NEXT_KEY`. */
const NEXT_SIGNER: Hex = '0x7F00CA392c246f3cE6f696c0a687BCce0c3af9F7'
const ROTATION = 2 * DAY
/** A signer that is not attested: no measurement, no configuration. */
const UNATTESTED = [ZERO_BYTES32, ZERO_BYTES32]
/** The enum's values. */
const ROLE = { owner: 0n, guardian: 1n, signer: 2n }
type RoleName = keyof typeof ROLE

let one: OneOfEach
const chain = useChain(
  async (set) => {
    one = await setUpOneOfEach(set)
  },
  { delays: { rotation: ROTATION } },
)

const account = (role: Role): Hex => chain().account(role)
const own = (method: string, ...args: unknown[]) => chain().send('owner', 'authority', method, ...args)
const read = (method: string, ...args: unknown[]) => chain().read('authority', method, ...args)
const revert = (from: Role, method: string, ...args: unknown[]) =>
  chain().revert(from, 'authority', method, ...args)
const notOwner = (caller: Role) => ({
  name: 'NotOwner',
  args: { expected: account('owner'), caller: account(caller) },
})

const ROTATIONS = [
  { role: 'owner', method: 'rotateOwner', also: [], view: 'owner', holder: () => account('owner') },
  {
    role: 'guardian',
    method: 'rotateGuardian',
    also: [],
    view: 'guardian',
    holder: () => account('guardian'),
  },
  {
    role: 'signer',
    method: 'rotateSigner',
    also: UNATTESTED,
    view: 'enclaveSigner',
    holder: () => ENCLAVE_SIGNER,
  },
] satisfies { role: RoleName; method: string; also: Hex[]; view: string; holder: () => Hex }[]

describe.each(ROTATIONS)('$method', ({ role, method, also, view, holder }) => {
  const pending = () => read('pendingRotation', ROLE[role])

  it('takes effect by itself after the rotation delay, to the second', async () => {
    const receipt = await own(method, account('dave'), ...also)
    const effectiveAt = (await chain().now()) + ROTATION
    expect(chain().events(receipt)).toEqual([
      {
        contract: 'authority',
        name: 'RotationScheduled',
        args: [ROLE[role], holder(), account('dave'), BigInt(effectiveAt), ...UNATTESTED],
      },
    ])
    expect(await pending()).toEqual([account('dave'), BigInt(effectiveAt)])
    await chain().mineAt(effectiveAt - 1)
    expect(await read(view)).toBe(holder())
    await chain().mineAt(effectiveAt)
    expect(await read(view)).toBe(account('dave'))
    expect(await pending()).toEqual([ZERO, 0n])
  })

  it('begins its delay anew when it is proposed again', async () => {
    await own(method, account('dave'), ...also)
    await chain().mineAt((await chain().now()) + ROTATION - 60)
    await own(method, account('dave'), ...also)
    await chain().mineAt((await chain().now()) + ROTATION - 60)
    expect(await read(view)).toBe(holder())
  })

  it('can be withdrawn until then, and not after', async () => {
    const none = { name: 'NoRotation', args: { role: `${ROLE[role]}` } }
    expect(await revert('owner', 'withdrawRotation', ROLE[role])).toEqual(none)
    await own(method, account('dave'), ...also)
    const effectiveAt = (await chain().now()) + ROTATION
    const receipt = await own('withdrawRotation', ROLE[role])
    expect(chain().events(receipt)).toEqual([
      { contract: 'authority', name: 'RotationWithdrawn', args: [ROLE[role]] },
    ])
    expect(await pending()).toEqual([ZERO, 0n])
    await chain().mineAt(effectiveAt + DAY)
    expect(await read(view)).toBe(holder())
    expect(await revert('owner', 'withdrawRotation', ROLE[role])).toEqual(none)
  })

  it('is the owner’s alone, and so is its withdrawal', async () => {
    await own(method, account('dave'), ...also)
    for (const caller of ['guardian', 'admin', 'dave', 'deployer'] as const) {
      expect(await revert(caller, method, account('carol'), ...also)).toEqual(notOwner(caller))
      expect(await revert(caller, 'withdrawRotation', ROLE[role])).toEqual(notOwner(caller))
    }
  })
})

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
    for (const [contract, method, ...args] of owned) {
      expect(await chain().revert(holder, contract, method, ...args), method).toBeNull()
      expect(await chain().revert(other, contract, method, ...args), method).toEqual({
        name: 'NotOwner',
        args: { expected: account(holder), caller: account(other) },
      })
    }
  }
})

const byNew = (type: (typeof PRIMARY_TYPES)[number]) =>
  signedCall(chain(), one.of(type), { key: NEXT_KEY, domain: domainOf(chain(), type) })
const rotate = async () => {
  await own('rotateSigner', NEXT_SIGNER, ...UNATTESTED)
  await chain().mineAt((await chain().now()) + ROTATION)
}

it.each(PRIMARY_TYPES)(
  'a rotation of the signer voids what the former one signed, and takes what the next one signs (%s)',
  async (type) => {
    const byOld = signedCall(chain(), one.of(type))
    expect(await chain().revert('relayer', ...byNew(type))).toEqual({
      name: 'InvalidSigner',
      args: { expected: ENCLAVE_SIGNER, got: NEXT_SIGNER },
    })
    await rotate()
    expect(await chain().revert('relayer', ...byOld)).toEqual({
      name: 'InvalidSigner',
      args: { expected: NEXT_SIGNER, got: ENCLAVE_SIGNER },
    })
    expect(await chain().revert('relayer', ...byNew(type))).toBeNull()
  },
)

describe("the signer's program", () => {
  const MEASUREMENT: Hex = `0x${'aa'.repeat(32)}`
  const CONFIG: Hex = `0x${'bb'.repeat(32)}`
  const inForce = () => read('signerProgram')
  const next = () => read('pendingProgram')

  it('is announced with the rotation, takes effect with it, and stays when a later one is withdrawn', async () => {
    const receipt = await own('rotateSigner', NEXT_SIGNER, MEASUREMENT, CONFIG)
    const [scheduled] = chain().events(receipt)
    expect(scheduled?.args.slice(4)).toEqual([MEASUREMENT, CONFIG])
    expect([await inForce(), await next()]).toEqual([UNATTESTED, [MEASUREMENT, CONFIG]])
    await chain().mineAt((await chain().now()) + ROTATION)
    expect([await inForce(), await next()]).toEqual([[MEASUREMENT, CONFIG], UNATTESTED])
    await own('rotateSigner', ENCLAVE_SIGNER, ...UNATTESTED)
    await own('withdrawRotation', ROLE.signer)
    await chain().mineAt((await chain().now()) + ROTATION)
    expect(await inForce()).toEqual([MEASUREMENT, CONFIG])
  })

  it('is whole or none', async () => {
    for (const program of [
      [MEASUREMENT, ZERO_BYTES32],
      [ZERO_BYTES32, CONFIG],
    ] as const) {
      const [measurement, config] = program
      expect(await revert('owner', 'rotateSigner', NEXT_SIGNER, ...program)).toEqual({
        name: 'IncompleteProgram',
        args: { measurement, config },
      })
    }
  })

  it('can be revoked by the guardian alone, at once and for good; the signer in force stays', async () => {
    await own('rotateSigner', NEXT_SIGNER, MEASUREMENT, CONFIG)
    expect(await revert('owner', 'revokeMeasurement', MEASUREMENT)).toMatchObject({ name: 'NotGuardian' })
    expect(await revert('guardian', 'revokeMeasurement', ZERO_BYTES32)).toMatchObject({
      name: 'IncompleteProgram',
    })
    const receipt = await chain().send('guardian', 'authority', 'revokeMeasurement', MEASUREMENT)
    expect(chain().events(receipt)).toEqual([
      { contract: 'authority', name: 'MeasurementRevoked', args: [MEASUREMENT] },
    ])
    expect(await read('isRevoked', MEASUREMENT)).toBe(true)
    expect(await revert('owner', 'rotateSigner', NEXT_SIGNER, MEASUREMENT, CONFIG)).toEqual({
      name: 'RevokedMeasurement',
      args: { measurement: MEASUREMENT },
    })
    await chain().mineAt((await chain().now()) + ROTATION)
    expect(await read('enclaveSigner')).toBe(NEXT_SIGNER)
  })
})

const deploys = async (abi: InterfaceAbi, bytecode: string, args: unknown[]) => {
  const { data } = await new ContractFactory([...abi], bytecode).getDeployTransaction(...args)
  try {
    await chain().provider.send('eth_call', [{ from: account('deployer'), data }, 'latest'])
    return null
  } catch (cause) {
    return revertOf(cause)
  }
}
const deploysAuthority = (rotation: number, pause: number) =>
  deploys(authorityAbi, authorityBytecode, [
    ...[account('owner'), account('guardian'), NEXT_SIGNER, rotation, pause],
    ...[chain().addressOf('usdc'), chain().addressOf('pool')],
  ])

it('a deployment has rotation delay < longest pause < reclaim delay', async () => {
  expect(await deploysAuthority(0, 1)).toBeNull()
  expect(await deploysAuthority(7 * DAY - 2, 7 * DAY - 1)).toBeNull()
  for (const [rotation, pause] of [
    [0, 0],
    [DAY, DAY],
    [DAY + 1, DAY],
    [0, 7 * DAY],
    [7 * DAY, 7 * DAY + 1],
    [0, 30 * DAY],
  ] as const) {
    expect(await deploysAuthority(rotation, pause)).toEqual({
      name: 'DelaysOutOfOrder',
      args: { rotationDelay: `${rotation}`, maxPause: `${pause}`, reclaimDelay: `${7 * DAY}` },
    })
  }
})

it('a deployment lets no leaving take longer than 30 days', async () => {
  const registry = (leaveDelay: number | bigint) =>
    deploys(institutionRegistryAbi, institutionRegistryBytecode, [
      chain().addressOf('authority'),
      chain().addressOf('usdc'),
      chain().addressOf('pool'),
      chain().addressOf('ledger'),
      leaveDelay,
    ])
  expect(await registry(0)).toBeNull()
  expect(await registry(30 * DAY)).toBeNull()
  for (const leaveDelay of [30 * DAY + 1, 2n ** 64n - 1n]) {
    expect(await registry(leaveDelay)).toEqual({
      name: 'LeaveDelayTooLong',
      args: { leaveDelay: `${leaveDelay}`, longest: `${30 * DAY}` },
    })
  }
})
