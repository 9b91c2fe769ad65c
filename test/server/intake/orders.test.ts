import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { commitOf } from '../../../src/protocol/envelope.js'
import { useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { bytes32, setUpInstitution } from '../../support/institution.js'
import {
  chainEnvironment,
  enclaveEnvironment,
  openFor,
  sealOrder,
  startIntakeServer,
} from '../../support/intakeServer.js'
import { createScriptedEnclave } from '../../support/scriptedEnclave.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const chain = useChain(setUpInstitution)
const ORDER = bytes32('an order')

async function setUp(overrides: Record<string, string> = {}) {
  const directory = await temporaryDirectory()
  const enclave = createScriptedEnclave(directory)
  const environment = {
    ...chainEnvironment(chain()),
    ...enclaveEnvironment(enclave),
    DATA_DIR: `${directory}/data`,
    ...overrides,
  }
  const server = await startIntakeServer(environment)
  return { ...server, api: request(server.url), enclave, environment }
}

describe('POST /orders', () => {
  test('stores the envelope, answers 202 with its Location, and has the enclave run with it', async () => {
    const { api, enclave } = await setUp()
    const envelope = await sealOrder('one')
    const order = await openFor(chain(), 'alice', ORDER, envelope)
    const response = await api.post('/orders').send(order)
    expect(response.status).toBe(202)
    expect(response.headers.location).toBe(`/orders/${ORDER}`)
    expect(response.body).toEqual({
      orderId: ORDER,
      result: 'received',
      commit: commitOf(envelope),
      receivedAt: expect.any(String),
    })
    const jobs = await eventually('a run', async () => {
      const found = await enclave.jobs()
      return found.length > 0 && found
    })
    expect(jobs).toEqual([
      {
        job: 'order',
        runId: expect.any(String),
        resultFile: expect.any(String),
        stopAt: expect.any(Number),
        orderId: ORDER,
        envelope,
      },
    ])
    await eventually('the outcome', async () => {
      const { body } = await api.get(`/orders/${ORDER}`)
      return body.triggers[0]?.outcome === 'placed'
    })
    const again = await api.post('/orders').send(order)
    expect(again.body).toEqual({ ...response.body, result: 'already-received' })
  })
})
