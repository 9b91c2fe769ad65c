import { Point } from '@noble/secp256k1'
import { expect, it, vi } from 'vitest'
import { program, ROOT, STATEMENT, stating } from '../../scripts/attestation/base.js'
import { NOW } from '../../scripts/attestation/documents.js'
import type { Measurements } from '../../src/attestation/index.js'
import { BORN } from '../../src/attestation/statement.js'
import { createVerifier } from '../../src/attestation/verify.js'
import { encodeStatement } from '../../src/attestation/write.js'
import { createClient, type Pins } from '../../src/client/index.js'
import { type Hex, hexToBytes } from '../../src/protocol/hex.js'
import { challengeSchema } from '../../src/protocol/postedAttestation.js'
import { useApi } from '../support/apiStandIn.js'
import { useChain } from '../support/chain.js'
import { ENCLAVE_SIGNER } from '../support/roles.js'
import { clientOf, enclaveKeyOf, INTENT_PUBLIC_KEY, walletOf } from './clientSetting.js'
import { createTestWallet } from './testWallet.js'

/** Seconds. */
const DELAY = 3_600
const chain = useChain(undefined, { delays: { rotation: DELAY } })
const elsewhere: Hex = `0x${'44'.repeat(20)}`
const api = await useApi()

/** The platform as a client finds it when `/enclave-key` answers with these changes. */
function platform(pins: Pins = {}, change: Record<string, unknown> = {}) {
  api.answerWith(() => ({ body: { ...enclaveKeyOf(chain()), ...change } }))
  return clientOf(chain(), api, 'alice', { pins }).getPlatform()
}

it('the platform is the server’s key and what the chain says of the escrow', async () => {
  expect(await platform()).toEqual({
    enclavePublicKey: INTENT_PUBLIC_KEY,
    chainId: chain().anvil.chainId,
    escrow: chain().addressOf('escrow'),
    usdc: chain().addressOf('usdc'),
    ledger: chain().addressOf('ledger'),
    registry: chain().addressOf('registry'),
    token: chain().addressOf('token'),
    actions: chain().addressOf('actions'),
    takesOpenings: true,
  })
})

it('the platform agrees with pins in any form', async () => {
  const uncompressed: Hex = `0x${Point.fromBytes(hexToBytes(INTENT_PUBLIC_KEY)).toHex(false)}`
  const escrow: Hex = `0x${chain().addressOf('escrow').slice(2).toLowerCase()}`
  expect(await platform({ enclavePublicKey: uncompressed, escrow })).toBeDefined()
})

const otherKey = `0x02${'79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'}` as const

it.each<[string, string, Pins, Record<string, unknown>]>([
  ['another chain than the wallet’s', 'wrong-chain', {}, { chainId: 1 }],
  ['another scheme', 'unknown-scheme', {}, { scheme: 'service-ecies-v2' }],
  ['another key than the pinned one', 'untrusted-enclave-key', { enclavePublicKey: otherKey }, {}],
  ['another escrow than the pinned one', 'untrusted-escrow', { escrow: elsewhere }, {}],
  ['an escrow that is no contract', 'untrusted-escrow', {}, { escrow: elsewhere }],
  ['another USDC than the escrow’s', 'untrusted-escrow', {}, { usdc: elsewhere }],
  ['a key off the curve', 'unexpected-answer', {}, { publicKey: `0x02${'00'.repeat(31)}05` }],
])('the platform is refused with %s', async (_, code, pins, change) => {
  await expect(platform(pins, change)).rejects.toMatchObject({ name: 'ClientError', code })
})

it('the platform is asked for again each time, as the enclave’s key may change', async () => {
  const client = clientOf(chain(), api, 'alice')
  api.answerWith(() => ({ body: enclaveKeyOf(chain()) }))
  expect((await client.getPlatform()).enclavePublicKey).toBe(INTENT_PUBLIC_KEY)
  api.answerWith(() => ({ body: { ...enclaveKeyOf(chain()), publicKey: otherKey } }))
  expect((await client.getPlatform()).enclavePublicKey).toBe(otherKey)
})

it('the contracts are read once, however many calls need them at once', async () => {
  api.answerWith(() => ({ body: enclaveKeyOf(chain()) }))
  const wallet = createTestWallet(chain())
  const request = vi.spyOn(wallet, 'request')
  const client = clientOf(chain(), api, 'alice', { wallet })
  await Promise.all([client.getPlatform(), client.getPlatform()])
  const calls = request.mock.calls.filter(([{ method }]) => method === 'eth_call')
  expect(calls).toHaveLength(5)
})

it.each<[string, Pins]>([
  ['nothing', {}],
  ['the escrow alone', { escrow: elsewhere }],
  ['the enclave’s key alone', { enclavePublicKey: otherKey }],
])('a client that pins %s is none, unless it is told to believe the server', (_, pins) => {
  const options = { serverUrl: api.url, wallet: walletOf(chain(), 'alice'), pins }
  const unpinned = expect.objectContaining({ name: 'ClientError', code: 'unpinned-client' })
  // A caller without types.
  expect(() => Reflect.apply(createClient, undefined, [options])).toThrow(unpinned)
  expect(createClient({ ...options, allowUnattested: true })).toBeDefined()
})

/** The policy of a client, as far as the root of its evidence: the tests have their own. */
const measurements: Measurements = (attestation, found) =>
  createVerifier(BORN, ROOT)(attestation, { ...found, programs: [program()], now: NOW })

/** Evidence whose enclave states its signer and its key. */
async function statedBy(stated: { signer?: Hex; sealKey?: Hex; escrow?: Hex }, nonce?: Hex) {
  const { chainId, escrow } = enclaveKeyOf(chain())
  const own = { chainId, escrow, signer: ENCLAVE_SIGNER, sealKey: INTENT_PUBLIC_KEY }
  const statement = await encodeStatement({ ...STATEMENT, ...own, ...stated })
  const { attestation } = await stating(statement, nonce && { nonce: hexToBytes(nonce) })
  return { format: 'aws-nitro', ...attestation }
}

/** The platform of a client with measurements, whose server answers with this evidence and these changes. */
async function attestedPlatform(stated: Parameters<typeof statedBy>[0] = {}, change: object = {}) {
  const attestation = await statedBy(stated)
  api.answerWith(() => ({ body: { ...enclaveKeyOf(chain()), attestation, ...change } }))
  return clientOf(chain(), api, 'alice', { measurements }).getPlatform()
}

/** The owner announces a program with a signer. @returns when it takes over */
async function announce(signer: Hex, measurement: Hex, config: Hex): Promise<number> {
  await chain().send('owner', 'authority', 'rotateSigner', signer, measurement, config)
  return (await chain().now()) + DELAY
}

it('the program that the chain names for the signer has to be the one of the evidence, and not revoked', async () => {
  const { measurement, config } = (await attestedPlatform()).evidence?.verified ?? {}
  if (measurement === undefined || config === undefined) throw new Error('no evidence')
  const other: Hex = `0x${'77'.repeat(32)}`
  for (const [named, configured] of [
    [other, config],
    [measurement, other],
  ] as const) {
    await chain().mineAt(await announce(ENCLAVE_SIGNER, named, configured))
    await expect(attestedPlatform()).rejects.toMatchObject({ code: 'unannounced-program' })
  }
  await chain().mineAt(await announce(ENCLAVE_SIGNER, measurement, config))
  expect(await attestedPlatform()).toMatchObject({ enclavePublicKey: INTENT_PUBLIC_KEY })
  await chain().send('guardian', 'authority', 'revokeMeasurement', measurement)
  await expect(attestedPlatform()).rejects.toMatchObject({ code: 'revoked-program' })
  // An order that was sealed before it.
  const [iv, tag] = [`0x${'00'.repeat(12)}`, `0x${'00'.repeat(16)}`] as const
  const envelope = { epk: INTENT_PUBLIC_KEY, iv, ct: '0x00', tag } as const
  const order = { orderId: other, commit: other, envelope }
  const client = clientOf(chain(), api, 'alice', { measurements })
  await expect(client.submitOrder(order)).rejects.toMatchObject({ code: 'revoked-program' })
  expect(api.requests.map(({ path }) => path)).not.toContain('/orders')
})

it('during a rotation the client seals to the key in force, and names the change, with evidence that is of the announced program', async () => {
  const { measurement, config } = (await attestedPlatform()).evidence?.verified ?? {}
  if (measurement === undefined || config === undefined) throw new Error('no evidence')
  const signer: Hex = '0x7777777777777777777777777777777777777777'
  const shown = { publicKey: otherKey, attestation: await statedBy({ signer, sealKey: otherKey }) }
  const effectiveAt = await announce(signer, measurement, config)
  const next = { ...shown, signer, effectiveAt: new Date(effectiveAt * 1_000).toISOString() }
  expect(await attestedPlatform({}, { next })).toMatchObject({
    enclavePublicKey: INTENT_PUBLIC_KEY,
    evidence: { next: { signer, effectiveAt, measurement, verified: { statement: { sealKey: otherKey } } } },
  })
  // The chain announces it, whatever the server hides or invents.
  for (const attestation of [undefined, await statedBy({ signer: elsewhere })]) {
    const { evidence } = await attestedPlatform({}, { next: { ...next, attestation } })
    expect(evidence?.next).toEqual({ signer, effectiveAt, measurement })
  }
  await announce(signer, `0x${'77'.repeat(32)}`, config)
  expect((await attestedPlatform({}, { next })).evidence?.next).not.toHaveProperty('verified')
})

it.each([
  [{ signer: elsewhere }, { code: 'untrusted-enclave', cause: { code: 'wrong-signer' } }],
  [{ escrow: elsewhere }, { code: 'untrusted-enclave', cause: { code: 'wrong-escrow' } }],
  [{ sealKey: otherKey }, { code: 'untrusted-enclave-key' }],
])(
  'evidence of another enclave than chain and server name is none of the platform: %o',
  async (stated, failure) => {
    await expect(attestedPlatform(stated)).rejects.toMatchObject({ name: 'ClientError', ...failure })
  },
)

it('a server that has not seen a rotation’s block yet is asked again', async () => {
  const former = await statedBy({ signer: elsewhere })
  const attestation = await statedBy({})
  let asked = 0
  api.answerWith(() => ({
    body: { ...enclaveKeyOf(chain()), attestation: asked++ === 0 ? former : attestation },
  }))
  await expect(clientOf(chain(), api, 'alice', { measurements }).getPlatform()).resolves.toBeDefined()
  expect(asked).toBe(2)
})

it('a client with measurements trusts no server that shows no evidence', async () => {
  api.answerWith(() => ({ body: enclaveKeyOf(chain()) }))
  await expect(clientOf(chain(), api, 'alice', { measurements }).getPlatform()).rejects.toMatchObject({
    code: 'unattested-enclave',
  })
})

it('a challenge is answered with the nonce that the client drew, by the enclave of the platform', async () => {
  const nonces = new Set<Hex>()
  let shown = (nonce: Hex) => statedBy({}, nonce)
  api.answerWith(async ({ path, body }) => {
    if (path !== '/enclave-key/challenge') return { body: enclaveKeyOf(chain()) }
    const { nonce } = challengeSchema.parse(body)
    nonces.add(nonce)
    return { body: await shown(nonce) }
  })
  const client = clientOf(chain(), api, 'alice', { measurements })
  expect(await client.challengeEnclave()).toMatchObject({ statement: { sealKey: INTENT_PUBLIC_KEY } })
  shown = () => statedBy({}, [...nonces][0])
  const replayed = { code: 'untrusted-enclave', cause: { code: 'wrong-nonce' } }
  await expect(client.challengeEnclave()).rejects.toMatchObject(replayed)
  expect(nonces.size).toBe(2)
})
