import request from 'supertest'
import { expect, test } from 'vitest'
import { buildApp } from '../../support/builtApp.js'
import { useChain } from '../../support/chain.js'
import { bytes32, setUpInstitution } from '../../support/institution.js'
import { enclaveEnvironment, openFor, sealOrder } from '../../support/intakeServer.js'
import { createScriptedEnclave } from '../../support/scriptedEnclave.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const chain = useChain(setUpInstitution)
const ORDER = bytes32('an order')

test('an escrow that POST /orders has seen is not denied by what GET /orders remembers', async () => {
  const enclave = enclaveEnvironment(await createScriptedEnclave(await temporaryDirectory()))
  // No service runs, so that nothing but the two routes asks for the head.
  const { app } = await buildApp({ chain: chain(), env: { ...enclave, READ_MAX_AGE: '1h' } })
  const post = (body: object) => request(app).post('/orders').send(body).expect(202)
  const state = async () => (await request(app).get(`/orders/${ORDER}`).expect(200)).body.state
  await post({ orderId: ORDER, ...(await sealOrder('of somebody else')) })
  expect(await state()).toBe('NONE')
  const order = await openFor(chain(), 'alice', ORDER, await sealOrder('of whom the escrow is'))
  expect(await state()).toBe('NONE')
  await post(order)
  expect(await state()).toBe('OPEN')
})
