import type { ContractAddresses } from '../protocol/api.js'
import { createConfidentialLedger } from './confidentialLedger.js'
import type { ViewCaller } from './contractReader.js'
import { createEquityToken } from './equityToken.js'
import { createInstitutionRegistry } from './institutionRegistry.js'
import { createOrderEscrow } from './orderEscrow.js'
import { createPlatformPool } from './platformPool.js'

/** Typed views of the five contracts. Calls made together travel as one HTTP request. */
export type Contracts = ReturnType<typeof createContracts>

export function createContracts(caller: ViewCaller, addresses: ContractAddresses) {
  return {
    registry: createInstitutionRegistry(caller, addresses.institutionRegistry),
    escrow: createOrderEscrow(caller, addresses.orderEscrow),
    ledger: createConfidentialLedger(caller, addresses.confidentialLedger),
    token: createEquityToken(caller, addresses.equityToken),
    pool: createPlatformPool(caller, addresses.platformPool),
  }
}
