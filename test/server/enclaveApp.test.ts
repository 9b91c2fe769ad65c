import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { signRunMessage } from '../../src/protocol/runMessage.js'
import { bareServer } from '../support/bareServer.js'
import { RUN_SECRET, SERVER_ENVIRONMENT } from '../support/serverEnvironment.js'

const RUN_ID = '0b8ff7f1-3f3c-4b0a-9f3e-2f1c8d0f6f11'
const TOKEN = { authorization: `Bearer ${SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN}` }
const json = { 'content-type': 'application/json' }

/** A server whose every limit of clients is one. */
async function start() {
  const limits = {
    RATE_LIMIT_PER_MINUTE: '1',
    MAX_CONNECTIONS: '1',
    MAX_CONNECTIONS_PER_CLIENT: '1',
    MAX_UNDER_WAY: '1',
    MAX_UNDER_WAY_PER_CLIENT: '1',
  }
  const { relayUrl } = await bareServer(limits)
  async function ask(path: string, init: RequestInit = {}) {
    const response = await fetch(relayUrl + path, init)
    const answer = answerSchema.parse(await response.json())
    return [response.status, answer.code ?? answer.result]
  }
  return { ask }
}

const answerSchema = z.looseObject({ code: z.string().optional(), result: z.string().optional() })

const post = (headers: Record<string, string>, body: string) => ({
  method: 'POST',
  headers: { ...json, ...headers },
  body,
})

describe('the port of the enclave', () => {
  test('answers no one without the token, signed or not', async () => {
    const { ask } = await start()
    const signed = signRunMessage(RUN_SECRET, { kind: 'result', runId: RUN_ID, body: '{}' })
    for (const path of [
      '/attestation',
      '/relay',
      `/relay/${ZERO_BYTES32}`,
      `/runs/${RUN_ID}/result`,
      '/health',
      '/nowhere',
    ])
      for (const headers of [{}, signed, { authorization: `${TOKEN.authorization}0` }])
        expect(await ask(path, post(headers, '{}'))).toEqual([401, 'relay-unauthorized'])
  })

  test('has the routes that the enclave calls, and no other', async () => {
    const { ask } = await start()
    for (const path of ['/relay', '/attestation'])
      expect(await ask(path, post(TOKEN, '{}'))).toEqual([400, 'invalid-body'])
    expect(await ask(`/relay/${ZERO_BYTES32}`, { headers: TOKEN })).toEqual([404, 'receipt-not-found'])
    for (const kind of ['notice', 'result'] as const) {
      const body = JSON.stringify(kind === 'notice' ? { code: 'conflict' } : { outcome: 'done' })
      const path = `/runs/${RUN_ID}/${kind}`
      expect(await ask(path, post(TOKEN, body))).toEqual([401, 'run-unauthorized'])
      const signed = signRunMessage(RUN_SECRET, { kind, runId: RUN_ID, body })
      expect(await ask(path, post({ ...TOKEN, ...signed }, body))).toEqual([200, 'not-awaited'])
      const ofAnother = `/runs/${crypto.randomUUID()}/${kind}`
      expect(await ask(ofAnother, post({ ...TOKEN, ...signed }, body))).toEqual([401, 'run-unauthorized'])
    }
    for (const path of ['/health', '/enclave-key', '/orders', '/openapi.json']) {
      expect(await ask(path, { headers: TOKEN })).toEqual([404, 'not-found'])
    }
  })
})
