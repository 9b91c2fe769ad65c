import { commitOf, type Envelope, ORDER_PLACE, seal } from '../../src/protocol/envelope.js'
import type { Hex } from '../../src/protocol/hex.js'
import { publicKeySchema } from '../../src/protocol/point.js'
import type { PostOrder } from '../../src/protocol/postedOrder.js'
import { RETRY_TIMES } from '../../src/server/trigger/orderRun.js'
import { bareServer } from './bareServer.js'
import type { TestChain } from './chain.js'
import { firstLook } from './firstLook.js'
import type { Role } from './roles.js'
import { SERVER_ENVIRONMENT } from './serverEnvironment.js'

/** The server's variables for a chain. */
export function chainEnvironment({ anvil, addresses }: TestChain): Record<string, string> {
  return {
    RPC_URL: anvil.rpcUrl,
    CHAIN_ID: String(anvil.chainId),
    INSTITUTION_REGISTRY_ADDRESS: addresses.institutionRegistry,
    ORDER_ESCROW_ADDRESS: addresses.orderEscrow,
    CONFIDENTIAL_LEDGER_ADDRESS: addresses.confidentialLedger,
    EQUITY_TOKEN_ADDRESS: addresses.equityToken,
    PLATFORM_POOL_ADDRESS: addresses.platformPool,
  }
}

/** The server's variables for a scripted enclave. */
export function enclaveEnvironment({ url }: { readonly url: string }): Record<string, string> {
  return { ENCLAVE_URL: url, ENCLAVE_MAX_RUNS: '4' }
}

/**
 * A server of the running test, stopped with it at the latest.
 * @param enclave posts its results there; its variables are in the environment
 */
export async function startIntakeServer(
  environment: Record<string, string>,
  enclave?: { postTo(server: string): void },
) {
  const server = await bareServer(environment, { ...RETRY_TIMES, escrowMs: 100 })
  enclave?.postTo(server.url)
  await firstLook(server.log.text)
  return server
}

/** An envelope as a client seals one; its content does not matter here. */
export function sealOrder(content: string): Promise<Envelope> {
  const key = publicKeySchema.parse(SERVER_ENVIRONMENT.INTENT_PUBKEY)
  return seal({ content }, key, ORDER_PLACE)
}

/** Opens a request on chain for an envelope. */
export async function openFor(
  chain: TestChain,
  from: Role,
  orderId: Hex,
  envelope: Envelope,
): Promise<PostOrder> {
  const deadline = (await chain.now()) + 3_600
  await chain.send(from, 'escrow', 'openRequest', orderId, commitOf(envelope), deadline)
  return { orderId, ...envelope }
}
