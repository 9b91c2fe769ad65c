import { expect, it } from 'vitest'
import { configurationOf } from '../../src/attestation/write.js'
import { readConfig } from '../../src/enclave/config.js'
import { environmentSchema } from '../../src/enclave/configSchema.js'
import { enclaveEnvironment } from './support/environment.js'

/** Settings that decide neither about money nor about secrecy. */
const HARMLESS = [
  // Keys: the statement says where they come from, and the chain names the signer.
  ...['LEDGER_MASTER_KEY', 'INTENT_PRIVATE_KEY', 'ENCLAVE_PRIVATE_KEY'],
  // Who may log in at the broker, which the host of its URL decides about.
  ...['ALPACA_KEY_ID', 'ALPACA_SECRET_KEY'],
  // How long something waits. The program bounds each, and decides about money by none.
  ...['BROKER_TIMEOUT', 'BROKER_CLOCK_MAX_AGE', 'CHAIN_DEPTH_WAIT', 'RPC_TIMEOUT', 'RELAY_TIMEOUT'],
  ...['RELAY_RETRY_AFTER', 'CONFIRM_POLL_INTERVAL', 'FILL_WAIT', 'ABSENT_RECHECK_AFTER'],
  'AMBIGUOUS_RETRY_AFTER',
  // Only a command of the operator reads it.
  'BROKER_FEES_EARLIER',
  // What goes there is public or sealed.
  ...['RELAY_URL', 'RELAY_AUTH_TOKEN'],
  // Who may post jobs, whose content is sealed, and how many; the log shows a list of fields at any level.
  ...['ENCLAVE_LISTEN', 'ENCLAVE_TRIGGER_SECRET', 'ENCLAVE_STATE_DIR', 'MAX_RUNS', 'LOG_LEVEL'],
]

const config = readConfig({
  ...enclaveEnvironment,
  RPC_URL: 'https://node.example/v3/the-key, https://user:the-key@second.example:8545',
  RPC_WITNESS_URL: 'https://witness.example?the-key',
})

it('every setting of the enclave is in its statement, or harmless', () => {
  const stated = [...Object.keys(configurationOf(config)), ...HARMLESS]
  expect(stated.sort()).toEqual(Object.keys(environmentSchema.shape).sort())
})

it('the statement has the hosts of nodes, and no key that a URL carries', () => {
  const configuration = configurationOf(config)
  expect(configuration).toMatchObject({
    RPC_URL: 'node.example,second.example:8545',
    RPC_WITNESS_URL: 'witness.example',
  })
  expect(JSON.stringify(configuration)).not.toContain('the-key')
})
