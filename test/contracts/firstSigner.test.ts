// A deployment that names no signer: an attested enclave's key is born after it.
import { expect, it } from 'vitest'
import { type Hex, ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { batchMint, callWith, signedCall } from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import { AAPL, DAY, shares } from '../support/institution.js'
import { type OneOfEach, PRIMARY_TYPES, setUpOneOfEach } from '../support/oneOfEach.js'
import { ENCLAVE_SIGNER } from '../support/roles.js'

const ZERO: Hex = `0x${'00'.repeat(20)}`
const SIGNER_ROLE = 2n
const PROGRAM: Hex[] = [`0x${'aa'.repeat(32)}`, `0x${'bb'.repeat(32)}`]
const ROTATION = 2 * DAY

/** Where the authorizations would take effect. */
let one: OneOfEach
useChain(async (set) => {
  one = await setUpOneOfEach(set)
})
const chain = useChain(undefined, { delays: { rotation: ROTATION }, enclaveSigner: null })
const read = (view: string, ...args: unknown[]) => chain().read('authority', view, ...args)
const own = (method: string, ...args: unknown[]) => chain().send('owner', 'authority', method, ...args)

it.each(PRIMARY_TYPES)('nothing is signed by nobody (%s)', async (type) => {
  expect(await read('enclaveSigner')).toBe(ZERO)
  expect(await chain().revert('relayer', ...signedCall(chain(), one.of(type)))).toEqual({
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
    expect(await chain().revert('relayer', ...call)).toMatchObject({ name: 'ECDSAInvalidSignature' })
  }
})

it('the first one is in force at once, with its program; the next one after the rotation delay', async () => {
  await chain().send('owner', 'token', 'setListed', AAPL, true)
  const receipt = await own('rotateSigner', ENCLAVE_SIGNER, ...PROGRAM)
  const now = await chain().now()
  expect(chain().events(receipt)).toEqual([
    {
      contract: 'authority',
      name: 'RotationScheduled',
      args: [SIGNER_ROLE, ZERO, ENCLAVE_SIGNER, BigInt(now), ...PROGRAM],
    },
  ])
  expect(await read('enclaveSigner')).toBe(ENCLAVE_SIGNER)
  expect(await read('signerProgram')).toEqual(PROGRAM)
  expect(await read('pendingRotation', SIGNER_ROLE)).toEqual([ZERO, 0n])
  expect(await chain().revert('relayer', ...signedCall(chain(), batchMint(AAPL, shares(9))))).toBeNull()
  expect(await chain().revert('owner', 'authority', 'withdrawRotation', SIGNER_ROLE)).toMatchObject({
    name: 'NoRotation',
  })
  await own('rotateSigner', chain().account('dave'), ZERO_BYTES32, ZERO_BYTES32)
  const effectiveAt = (await chain().now()) + ROTATION
  expect(await read('pendingRotation', SIGNER_ROLE)).toEqual([chain().account('dave'), BigInt(effectiveAt)])
  expect(await read('enclaveSigner')).toBe(ENCLAVE_SIGNER)
  await own('withdrawRotation', SIGNER_ROLE)
  expect([await read('enclaveSigner'), await read('signerProgram')]).toEqual([ENCLAVE_SIGNER, PROGRAM])
})
