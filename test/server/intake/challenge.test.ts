// Evidence with a client's own nonce, from the enclave's door.
import type { ServerResponse } from 'node:http'
import { expect, it } from 'vitest'
import { claimedRunMessage, isRunMessageSigned } from '../../../src/protocol/runMessage.js'
import { base } from '../../attestation/vectors.js'
import { useChain } from '../../support/chain.js'
import { startRawServer } from '../../support/rawServer.js'
import { RUN_SECRET } from '../../support/serverEnvironment.js'
import { serverUnderTest } from '../../support/serverUnderTest.js'

const chain = useChain()
const nonce = `0x${'5c'.repeat(32)}`
const { attestation } = base

/** A server whose enclave's door answers challenges as told. */
async function setUp(answer: (res: ServerResponse) => void) {
  const asked: unknown[] = []
  const url = await startRawServer((req, res) => {
    const claimed = claimedRunMessage('challenge', req.headers)
    const isSigned = claimed !== undefined && isRunMessageSigned(RUN_SECRET, claimed, nonce.slice(2))
    asked.push([req.method, req.url, isSigned])
    answer(res)
  })
  const { api } = await serverUnderTest({ chain: chain(), env: { ENCLAVE_URL: url } })
  return { asked, challenge: (body: object = { nonce }) => api.post('/enclave-key/challenge').send(body) }
}

it('a challenge is signed for the enclave, whose evidence is handed on and kept by nobody', async () => {
  const { asked, challenge } = await setUp((res) => res.end(JSON.stringify(attestation)))
  const answer = await challenge()
  expect([answer.status, answer.body]).toEqual([200, attestation])
  expect(answer.headers).not.toHaveProperty('etag')
  expect(asked).toEqual([['GET', `/attestation?nonce=${nonce.slice(2)}`, true]])
  expect((await challenge({ nonce: '0x5c' })).body.code).toBe('invalid-body')
})

it('one challenge at a time reaches the enclave, others are refused for free, and a client’s share ends', async () => {
  const held: ServerResponse[] = []
  const { asked, challenge } = await setUp((res) => {
    if (held.push(res) > 1) res.end(JSON.stringify(attestation))
  })
  const first = challenge().then(({ status }) => status)
  await expect.poll(() => held.length).toBe(1)
  const busy = await challenge()
  expect(busy).toMatchObject({ status: 503, headers: { 'retry-after': '5' } })
  expect(busy.body.code).toBe('enclave-unavailable')
  await Promise.all(Array.from({ length: 40 }, () => challenge()))
  held[0]?.end(JSON.stringify(attestation))
  expect(await first).toBe(200)
  expect(asked).toHaveLength(1)
  const codes: unknown[] = []
  for (let count = 0; count < 40; count++) codes.push((await challenge()).body.code)
  expect(codes[0]).toBeUndefined()
  expect(codes.at(-1)).toBe('rate-limited')
})
