import request from 'supertest'
import { commitOf } from '../../../src/protocol/envelope.js'
import { useChain } from '../../support/chain.js'
import { bytes32, setUpInstitution } from '../../support/institution.js'
import { openFor, sealOrder } from '../../support/intakeServer.js'
import { serverUnderTest } from '../../support/serverUnderTest.js'

export const ORDER = bytes32('an order')

function routesAt(url: string) {
  const api = request(url)
  return {
    api,
    post: (order: object) => api.post('/orders').send(order),
    status: async () => (await api.get(`/orders/${ORDER}`)).body,
  }
}

/** Orders posted to a real server before a real chain. To be called once in a test file. */
export function useOrders() {
  const chain = useChain(setUpInstitution)

  async function setUp(env: Record<string, string> = {}) {
    const server = await serverUnderTest({ chain: chain(), env })
    const { url, restart } = server
    return {
      ...server,
      ...routesAt(url),
      async restart(changes: Record<string, string> = {}) {
        const next = await restart(changes)
        return { ...next, ...routesAt(next.url) }
      },
    }
  }

  async function openedEnvelope() {
    const envelope = await sealOrder('the real one')
    return { envelope, order: await openFor(chain(), 'alice', ORDER, envelope), commit: commitOf(envelope) }
  }

  async function junk(content: string) {
    const envelope = await sealOrder(content)
    return { order: { orderId: ORDER, ...envelope }, commit: commitOf(envelope) }
  }

  return { chain, setUp, openedEnvelope, junk }
}
