import type { SharedBrokerOptions } from '../broker/index.js'
import type { ContractAddresses } from '../protocol/api.js'
import type { EnclaveConfig } from './config.js'

/** The five contracts, by the configuration. */
export function addressesOf(config: EnclaveConfig): ContractAddresses {
  return {
    institutionRegistry: config.INSTITUTION_REGISTRY_ADDRESS,
    orderEscrow: config.ORDER_ESCROW_ADDRESS,
    confidentialLedger: config.CONFIDENTIAL_LEDGER_ADDRESS,
    equityToken: config.EQUITY_TOKEN_ADDRESS,
    platformPool: config.PLATFORM_POOL_ADDRESS,
  }
}

/** The account that trades, by the configuration. */
export function brokerOptionsOf(config: EnclaveConfig): SharedBrokerOptions {
  return {
    tradingUrl: config.ALPACA_TRADING_URL,
    dataUrl: config.ALPACA_DATA_URL,
    keyId: config.ALPACA_KEY_ID,
    secretKey: config.ALPACA_SECRET_KEY,
    timeoutMs: config.BROKER_TIMEOUT_MS,
    clockMaxAgeMs: config.BROKER_CLOCK_MAX_AGE_MS,
  }
}
