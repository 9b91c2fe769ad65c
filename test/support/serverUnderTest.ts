import request from 'supertest'
import { commitOf } from '../../src/protocol/envelope.js'
import type { TestChain } from './chain.js'
import { chainEnvironment, enclaveEnvironment, startIntakeServer } from './intakeServer.js'
import { ENCLAVE_SIGNER, ROLES } from './roles.js'
import { createScriptedEnclave, type Step } from './scriptedEnclave.js'
import { temporaryDirectory } from './temporaryDirectory.js'

/**
 * A whole server before a real chain, which relays with the relayer's key, and an enclave that does what the plan says. Both end with
 * the test.
 */
export async function serverUnderTest({
  chain,
  env = {},
  plan = {},
}: {
  readonly chain: TestChain
  readonly env?: Record<string, string>
  /** See `ScriptedEnclave`. */
  readonly plan?: Record<string, Step[]>
}) {
  const directory = await temporaryDirectory()
  const enclave = await createScriptedEnclave(directory)
  await enclave.plan(plan)
  const environment = {
    ...chainEnvironment(chain),
    ...enclaveEnvironment(enclave),
    ENCLAVE_SIGNER,
    RELAYER_PRIVATE_KEY: chain.anvil.accounts[ROLES.indexOf('relayer')]?.privateKey ?? '',
    RELAY_POLL_INTERVAL: '10ms',
    DATA_DIR: `${directory}/data`,
    ...env,
  }
  const server = await startIntakeServer(environment, enclave)
  return {
    ...server,
    api: request(server.url),
    enclave,
    directory,
    dataDir: environment.DATA_DIR,
    /** Another server in the place of the first one, which has been stopped or uses another directory. */
    restart: (changes: Record<string, string> = {}) =>
      startIntakeServer({ ...environment, ...changes }, enclave),
    /** The commits of the envelopes that runs of orders were given, in turn. */
    async commitsRun() {
      return (await enclave.jobs()).map((job) =>
        job.job === 'order' && job.envelope !== undefined ? commitOf(job.envelope) : null,
      )
    },
  }
}
