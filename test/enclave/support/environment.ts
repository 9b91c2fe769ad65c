import { KEYS } from './parties.js'

const address = (digit: string) => `0x${digit.repeat(40)}`

/** A configuration without faults, that leads nowhere. */
export const enclaveEnvironment: Record<string, string> = {
  LEDGER_MASTER_KEY: KEYS.master,
  INTENT_PRIVATE_KEY: KEYS.intent,
  ENCLAVE_PRIVATE_KEY: KEYS.signing,
  ALPACA_KEY_ID: 'PKENCLAVE',
  ALPACA_SECRET_KEY: 'enclave-secret',
  RPC_URL: 'http://127.0.0.1:1',
  CHAIN_ID: '31337',
  CHAIN_DEPTH: '0',
  INSTITUTION_REGISTRY_ADDRESS: address('1'),
  ORDER_ESCROW_ADDRESS: address('2'),
  CONFIDENTIAL_LEDGER_ADDRESS: address('3'),
  EQUITY_TOKEN_ADDRESS: address('4'),
  PLATFORM_POOL_ADDRESS: address('5'),
  RELAY_URL: 'http://127.0.0.1:1',
  RELAY_AUTH_TOKEN: 'relay-token-of-32-characters-or-more',
}
