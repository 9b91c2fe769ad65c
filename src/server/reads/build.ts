import { type Contracts, createContracts } from '../../chain/contracts.js'
import { createLenses, type Lenses } from '../../chain/lenses.js'
import { createRpcBatcher } from '../../chain/rpcBatcher.js'
import type { RpcTransport } from '../../chain/rpcTransport.js'
import { createViewCaller } from '../../chain/viewCaller.js'
import type { Logger } from '../../service/logger.js'
import type { Config } from '../config.js'
import { createEscrowEvents } from '../escrow/escrowLogs.js'
import { type ChainHead, createChainHead } from './chainHead.js'

/** What the routes read of the chain with. */
export interface BuiltReads {
  readonly head: ChainHead
  /** Views that can be asked for at one block, by its hash. */
  readonly contracts: Contracts
  readonly lenses: Lenses
}

/** Wires it. Starts nothing. */
export function buildReads(deps: {
  readonly config: Config
  readonly transport: RpcTransport
  readonly logger: Logger
}): BuiltReads {
  const { config, transport, logger } = deps
  const { contracts: addresses, readMaxAgeMs } = config.chain
  // Requests that are under way when the server stops are answered.
  const stopping = new AbortController().signal
  const events = createEscrowEvents({ transport, escrow: addresses.orderEscrow, stopping })
  const caller = createViewCaller(createRpcBatcher(transport))
  return {
    head: createChainHead({ events, maxAgeMs: readMaxAgeMs, logger }),
    contracts: createContracts(caller, addresses),
    lenses: createLenses(caller, addresses),
  }
}
