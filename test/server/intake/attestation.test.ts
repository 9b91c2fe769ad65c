import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { expect, it } from 'vitest'
import type { Hex } from '../../../src/protocol/hex.js'
import { publicKeyOf } from '../../../src/protocol/publicKey.js'
import { createShownAttestation } from '../../../src/server/intake/attestation.js'
import { base } from '../../attestation/vectors.js'
import { useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { createLogLines } from '../../support/logLines.js'
import { ENCLAVE_SIGNER } from '../../support/roles.js'
import { SERVER_ENVIRONMENT } from '../../support/serverEnvironment.js'
import { serverUnderTest } from '../../support/serverUnderTest.js'
import { openStores } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const DELAY = 3_600
const ZERO = `0x${'00'.repeat(32)}`
const chain = useChain(undefined, { delays: { rotation: DELAY } })
const TOKEN = { Authorization: `Bearer ${SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN}` }
const other: Hex = '0x7777777777777777777777777777777777777777'

/** Evidence as an enclave posts it; the server reads nothing of it but the statement's signer and key. */
function evidenceOf(
  signer: Hex,
  sealKey = SERVER_ENVIRONMENT.INTENT_PUBKEY,
  evidence = base.attestation.evidence,
) {
  return { ...base.attestation, evidence, statement: JSON.stringify({ signer, sealKey }) }
}
const attestation = evidenceOf(ENCLAVE_SIGNER)
const nextKey = publicKeyOf(new Uint8Array(32).fill(9))
const ATTESTED = { INTENT_PUBKEY: '', ENCLAVE_SIGNER: '' }

it('evidence that the enclave posts is shown beside its key, under another ETag, and by the next server too', async () => {
  const server = await serverUnderTest({ chain: chain() })
  const { api } = server
  const before = await api.get('/enclave-key')
  expect(before.body).not.toHaveProperty('attestation')
  const posted = await api.post('/attestation').set(TOKEN).send(attestation)
  expect(posted.status).toBe(200)
  const after = await api.get('/enclave-key')
  expect(before.body.mode).toBe('file-keys')
  // As it was answered last, without a question.
  expect((await api.get('/health')).body.mode).toBe('attested')
  expect(after.body).toEqual({ ...before.body, mode: 'attested', attestation })
  expect(after.headers.etag).not.toBe(before.headers.etag)
  const known = { 'If-None-Match': String(after.headers.etag) }
  expect((await api.get('/enclave-key').set(known)).status).toBe(304)
  await server.stop()
  const { url } = await server.restart()
  expect(await (await fetch(`${url}/enclave-key`)).json()).toEqual(after.body)
})

it('evidence without the relay’s token, or of a form that no verifier takes, is not shown', async () => {
  const { api } = await serverUnderTest({ chain: chain() })
  expect((await api.post('/attestation').send(attestation)).status).toBe(401)
  const odd = [{ evidence: 'A'.repeat(32_769) }, { statement: 1 }, { statement: '{}' }, { more: '' }]
  for (const change of odd)
    await api
      .post('/attestation')
      .set(TOKEN)
      .send({ ...attestation, ...change })
      .expect(400)
  expect((await api.get('/enclave-key')).body).not.toHaveProperty('attestation')
})

it('evidence that two servers take at the same moment is all kept, for two hours', async () => {
  const directory = join(await temporaryDirectory(), 'data')
  let now = Date.UTC(2026, 10, 28, 12)
  async function createServer() {
    const { engine } = await openStores(directory)
    return createShownAttestation({ engine, logger: createLogLines().logger, now: () => now })
  }
  const [first, second] = [await createServer(), await createServer()]
  const coming = evidenceOf(other, nextKey)
  const [until] = await Promise.all([first.post(attestation), second.post(coming)])
  expect(until).toBe(now + 7_200_000)
  now = until - 1
  const kept = (await first.current()).map((one) => one.attestation)
  expect(kept).toEqual(expect.arrayContaining([attestation, coming]))
  now = until
  expect(await first.current()).toEqual([])
})

it('a server without a configured key shows the one of the evidence whose signer the chain has, whoever else posts', async () => {
  const { api } = await serverUnderTest({ chain: chain(), env: ATTESTED })
  const post = (body: object) => api.post('/attestation').set(TOKEN).send(body).expect(200)
  await post(evidenceOf(other, nextKey))
  const modeOf = async () => (await api.get('/health')).body.mode
  expect(await modeOf()).toBe('keys-awaited')
  const { status, headers } = await api.get('/enclave-key')
  expect([status, headers['retry-after']]).toEqual([503, '30'])
  await post({ ...attestation, format: 'test' })
  expect((await api.get('/enclave-key')).body.mode).toBe('test')
  await post(attestation)
  await post(evidenceOf(other, nextKey))
  const { body } = await api.get('/enclave-key')
  expect(body).toMatchObject({ publicKey: SERVER_ENVIRONMENT.INTENT_PUBKEY, mode: 'attested', attestation })
  expect(body).not.toHaveProperty('next')
})

it('evidence of another key than the configured one is not shown beside it', async () => {
  const { api } = await serverUnderTest({ chain: chain() })
  await api.post('/attestation').set(TOKEN).send(evidenceOf(ENCLAVE_SIGNER, nextKey)).expect(200)
  const { body } = await api.get('/enclave-key')
  expect(body).toMatchObject({ publicKey: SERVER_ENVIRONMENT.INTENT_PUBKEY, mode: 'file-keys' })
  expect(body).not.toHaveProperty('attestation')
})

it('during a rotation the next signer is shown with its time, and with its key once its enclave has posted evidence', async () => {
  const { api } = await serverUnderTest({ chain: chain(), env: ATTESTED })
  await api.post('/attestation').set(TOKEN).send(attestation).expect(200)
  await chain().send('owner', 'authority', 'rotateSigner', other, ZERO, ZERO)
  const effectiveAt = new Date(((await chain().now()) + DELAY) * 1_000).toISOString()
  const next = { signer: other, effectiveAt }
  const shows = async (member: 'next' | 'publicKey', value: unknown) =>
    isDeepStrictEqual((await api.get('/enclave-key')).body[member], value)
  await eventually('the change of the signer', () => shows('next', next))
  const coming = evidenceOf(other, nextKey)
  await api.post('/attestation').set(TOKEN).send(coming).expect(200)
  const { body } = await api.get('/enclave-key')
  expect(body).toMatchObject({ attestation, next: { ...next, publicKey: nextKey, attestation: coming } })
  await chain().mineAt((await chain().now()) + DELAY)
  await eventually('the next key', () => shows('publicKey', nextKey))
  const { body: after } = await api.get('/enclave-key')
  expect(after).toMatchObject({ publicKey: nextKey, attestation: coming })
  expect(after).not.toHaveProperty('next')
})
