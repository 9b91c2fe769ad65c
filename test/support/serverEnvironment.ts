import { type Config, readConfig } from '../../src/server/config/config.js'

/** The secret that the server and its enclave share in the tests. */
export const RUN_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** A complete environment of the server; every value is made up, and no server listens at its URLs. */
export const SERVER_ENVIRONMENT = {
  PORT: '0',
  HOST: '127.0.0.1',
  OPS_PORT: '0',
  RELAY_PORT: '0',
  FRONTEND_ORIGIN: 'http://localhost:5173',
  LOG_LEVEL: 'info',
  RPC_URL: 'http://127.0.0.1:9',
  CHAIN_ID: '31337',
  INSTITUTION_REGISTRY_ADDRESS: `0x${'11'.repeat(20)}`,
  ORDER_ESCROW_ADDRESS: `0x${'22'.repeat(20)}`,
  CONFIDENTIAL_LEDGER_ADDRESS: `0x${'33'.repeat(20)}`,
  EQUITY_TOKEN_ADDRESS: `0x${'44'.repeat(20)}`,
  PLATFORM_POOL_ADDRESS: `0x${'55'.repeat(20)}`,
  RELAY_AUTH_TOKEN: 'relay-token-of-the-tests-0123456789',
  RELAYER_PRIVATE_KEY: `0x${'07'.repeat(32)}`,
  INTENT_PUBKEY: '0x0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798',
  // Reads see the latest block: tests send a transaction and look at once.
  READ_MAX_AGE: '1ms',
  ENCLAVE_TRIGGER: 'http',
  ENCLAVE_URL: 'http://127.0.0.1:9',
  ENCLAVE_TRIGGER_SECRET: RUN_SECRET,
  ENCLAVE_SIGNER: `0x${'66'.repeat(20)}`,
  ALPACA_KEY_ID: 'market-key-id',
  ALPACA_SECRET_KEY: 'market-secret-key',
  ALPACA_TRADING_URL: 'http://127.0.0.1:9',
  ALPACA_DATA_URL: 'http://127.0.0.1:9',
}

/** The configuration of that environment with some variables changed. */
export function serverConfig(overrides: Record<string, string> = {}): Config {
  return readConfig({ ...SERVER_ENVIRONMENT, ...overrides })
}
