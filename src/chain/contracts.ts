import type { Provider } from 'ethers'
import type { ContractAddresses } from '../protocol/api.js'
import { createConfidentialLedger } from './confidentialLedger.js'
import { createEquityToken } from './equityToken.js'
import { createInstitutionRegistry } from './institutionRegistry.js'
import { createOrderEscrow } from './orderEscrow.js'
import { createPlatformPool } from './platformPool.js'

/** Typed views of the five contracts. Calls made together travel as one HTTP request. */
export type Contracts = ReturnType<typeof createContracts>

export function createContracts(provider: Provider, addresses: ContractAddresses) {
  return {
    registry: createInstitutionRegistry(provider, addresses.institutionRegistry),
    escrow: createOrderEscrow(provider, addresses.orderEscrow),
    ledger: createConfidentialLedger(provider, addresses.confidentialLedger),
    token: createEquityToken(provider, addresses.equityToken),
    pool: createPlatformPool(provider, addresses.platformPool),
  }
}
