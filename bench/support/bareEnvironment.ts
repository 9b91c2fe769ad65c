import type { ContractAddresses } from '../../src/protocol/api.js'
import type { Hex } from '../../src/protocol/hex.js'
import { publicIdentity, type SandboxSecrets } from '../../src/sandbox/secrets.js'

export interface Surroundings {
  readonly rpcUrl: string
  readonly chainId: number
  readonly contracts: ContractAddresses
  readonly secrets: SandboxSecrets
  readonly relayerPrivateKey: string
  readonly enclaveSigner: Hex
}

/** The settings that a server on a chain of its own can't do without. */
export function bareEnvironment(surroundings: Surroundings): Record<string, string> {
  const { contracts, secrets } = surroundings
  return {
    FRONTEND_ORIGIN: 'http://localhost:5173',
    RPC_URL: surroundings.rpcUrl,
    CHAIN_ID: `${surroundings.chainId}`,
    INSTITUTION_REGISTRY_ADDRESS: contracts.institutionRegistry,
    ORDER_ESCROW_ADDRESS: contracts.orderEscrow,
    CONFIDENTIAL_LEDGER_ADDRESS: contracts.confidentialLedger,
    EQUITY_TOKEN_ADDRESS: contracts.equityToken,
    PLATFORM_POOL_ADDRESS: contracts.platformPool,
    RELAY_AUTH_TOKEN: secrets.relayAuthToken,
    RELAYER_PRIVATE_KEY: surroundings.relayerPrivateKey,
    INTENT_PUBKEY: publicIdentity(secrets).intentPublicKey,
    ENCLAVE_SIGNER: surroundings.enclaveSigner,
    ALPACA_KEY_ID: secrets.serverBroker.keyId,
    ALPACA_SECRET_KEY: secrets.serverBroker.secretKey,
  }
}
