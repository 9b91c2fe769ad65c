import { Point } from '@noble/secp256k1'
import { expect, it } from 'vitest'
import { program, ROOT, STATEMENT, stating } from '../../scripts/attestation/base.js'
import { NOW } from '../../scripts/attestation/documents.js'
import type { Measurements } from '../../src/attestation/index.js'
import { BORN } from '../../src/attestation/statement.js'
import { createVerifier } from '../../src/attestation/verify.js'
import { encodeStatement } from '../../src/attestation/write.js'
import { createClient, type Pins } from '../../src/client/index.js'
import { type Hex, hexToBytes } from '../../src/protocol/hex.js'
import { useApi } from '../support/apiStandIn.js'
import { useChain } from '../support/chain.js'
import { ENCLAVE_SIGNER } from '../support/roles.js'
import { clientOf, enclaveKeyOf, FAST, INTENT_PUBLIC_KEY, walletOf } from './clientSetting.js'

const chain = useChain()
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
  const client = createClient({ serverUrl: api.url, wallet: walletOf(chain(), 'alice'), timing: FAST })
  api.answerWith(() => ({ body: enclaveKeyOf(chain()) }))
  expect((await client.getPlatform()).enclavePublicKey).toBe(INTENT_PUBLIC_KEY)
  api.answerWith(() => ({ body: { ...enclaveKeyOf(chain()), publicKey: otherKey } }))
  expect((await client.getPlatform()).enclavePublicKey).toBe(otherKey)
})

/** The policy of a client, as far as the root of its evidence: the tests have their own. */
const measurements: Measurements = (attestation, found) =>
  createVerifier(BORN, ROOT)(attestation, { ...found, programs: [program()], now: NOW })

/** The platform of a client with measurements, as the enclave states its signer and its key. */
async function attestedPlatform(stated: { signer?: Hex; sealKey?: Hex; escrow?: Hex } = {}) {
  const { chainId, escrow } = enclaveKeyOf(chain())
  const statement = await encodeStatement({
    ...STATEMENT,
    ...{ chainId, escrow, signer: ENCLAVE_SIGNER, sealKey: INTENT_PUBLIC_KEY, ...stated },
  })
  const attestation = { format: 'aws-nitro', ...(await stating(statement)).attestation }
  api.answerWith(() => ({ body: { ...enclaveKeyOf(chain()), attestation } }))
  return clientOf(chain(), api, 'alice', { measurements }).getPlatform()
}

it('the platform of a client with measurements has the key that an accepted program states', async () => {
  expect(await attestedPlatform()).toMatchObject({ enclavePublicKey: INTENT_PUBLIC_KEY })
})

it('evidence of another signer, escrow or key than chain and server name is no evidence of the platform', async () => {
  const untrusted = { name: 'ClientError', code: 'untrusted-enclave' }
  await expect(attestedPlatform({ signer: elsewhere })).rejects.toMatchObject({
    ...untrusted,
    cause: { code: 'wrong-signer' },
  })
  await expect(attestedPlatform({ escrow: elsewhere })).rejects.toMatchObject({
    ...untrusted,
    cause: { code: 'wrong-escrow' },
  })
  await expect(attestedPlatform({ sealKey: otherKey })).rejects.toMatchObject({
    code: 'untrusted-enclave-key',
  })
})

it('a client with measurements trusts no server that shows no evidence', async () => {
  api.answerWith(() => ({ body: enclaveKeyOf(chain()) }))
  await expect(clientOf(chain(), api, 'alice', { measurements }).getPlatform()).rejects.toMatchObject({
    code: 'unattested-enclave',
  })
})
