import { Point } from '@noble/secp256k1'
import { expect, it } from 'vitest'
import { createClient, type Pins } from '../../src/client/index.js'
import { type Hex, hexToBytes } from '../../src/protocol/hex.js'
import { useApi } from '../support/apiStandIn.js'
import { useChain } from '../support/chain.js'
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
