import type { ContractAddresses } from '../protocol/api.js'

/** The environment variable of each contract's address: the deployment prints them, server and enclave read them. */
export const ADDRESS_VARIABLES = {
  institutionRegistry: 'INSTITUTION_REGISTRY_ADDRESS',
  orderEscrow: 'ORDER_ESCROW_ADDRESS',
  confidentialLedger: 'CONFIDENTIAL_LEDGER_ADDRESS',
  equityToken: 'EQUITY_TOKEN_ADDRESS',
  platformPool: 'PLATFORM_POOL_ADDRESS',
} satisfies Record<keyof ContractAddresses, string>
