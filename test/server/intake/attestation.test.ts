import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createShownAttestation } from '../../../src/server/intake/attestation.js'
import { base } from '../../attestation/vectors.js'
import { useChain } from '../../support/chain.js'
import { createLogLines } from '../../support/logLines.js'
import { openQuickly } from '../../support/quickStores.js'
import { SERVER_ENVIRONMENT } from '../../support/serverEnvironment.js'
import { serverUnderTest } from '../../support/serverUnderTest.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const chain = useChain()
const TOKEN = { Authorization: `Bearer ${SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN}` }
const { attestation } = base

it('evidence that the enclave posts is shown beside its key, under another ETag, and by the next server too', async () => {
  const server = await serverUnderTest({ chain: chain() })
  const { api } = server
  const before = await api.get('/enclave-key')
  expect(before.body).not.toHaveProperty('attestation')
  const posted = await api.post('/attestation').set(TOKEN).send(attestation)
  expect(posted.status).toBe(200)
  const after = await api.get('/enclave-key')
  expect(after.body).toEqual({ ...before.body, attestation })
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
  for (const change of [{ evidence: 'A'.repeat(32_769) }, { statement: 1 }, { more: '' }]) {
    const answer = await api
      .post('/attestation')
      .set(TOKEN)
      .send({ ...attestation, ...change })
    expect(answer.status).toBe(400)
  }
  expect((await api.get('/enclave-key')).body).not.toHaveProperty('attestation')
})

it('evidence that the enclave posted two hours ago is shown no more', async () => {
  const engine = await openQuickly(join(await temporaryDirectory(), 'data'))
  onTestFinished(() => engine.stop())
  let now = Date.UTC(2026, 10, 28, 12)
  const shown = createShownAttestation({ engine, logger: createLogLines().logger, now: () => now })
  const until = await shown.post(attestation)
  expect(until).toBe(now + 7_200_000)
  now = until - 1
  expect(await shown.current()).toEqual(attestation)
  now = until
  expect(await shown.current()).toBeUndefined()
})
