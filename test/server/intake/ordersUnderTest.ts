import request from 'supertest'
import { commitOf } from '../../../src/protocol/envelope.js'
import { useChain } from '../../support/chain.js'
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

export const ORDER = bytes32('an order')

/** Orders posted to a real server before a real chain. To be called once in a test file. */
export function useOrders() {
  const chain = useChain(setUpInstitution)

  async function setUp(overrides: Record<string, string> = {}) {
    const directory = await temporaryDirectory()
    const enclave = await createScriptedEnclave(directory)
    const dataDir = `${directory}/data`
    const environment = {
      ...chainEnvironment(chain()),
      ...enclaveEnvironment(enclave),
      DATA_DIR: dataDir,
      ...overrides,
    }
    const server = await startIntakeServer(environment, enclave)
    const api = request(server.url)
    return {
      ...server,
      api,
      enclave,
      environment,
      dataDir,
      /** The commits of the envelopes that runs of the order were given, in turn. */
      async commitsRun() {
        return (await enclave.jobs()).map((job) =>
          job.job === 'order' && job.envelope !== undefined ? commitOf(job.envelope) : null,
        )
      },
      post: (order: object) => api.post('/orders').send(order),
      status: async () => (await api.get(`/orders/${ORDER}`)).body,
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
