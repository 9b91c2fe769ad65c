import { createConfidentialLedger } from '../../src/chain/confidentialLedger.js'
import { RpcProvider } from '../../src/chain/provider.js'
import { checksum } from '../../src/protocol/address.js'
import type { ContractAddresses } from '../../src/protocol/api.js'
import {
  authorizationDigest,
  type SignedAuthorization,
  signAuthorization,
} from '../../src/protocol/authorization.js'
import { bytesToHex, type Hex, uintToBytes, ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { portfolioHashAfter } from '../../src/protocol/ledgerBlob.js'
import { castAccounts, type SandboxAccount } from '../../src/sandbox/accounts.js'
import { startAnvil } from '../../src/sandbox/anvil.js'
import { deployAll, localProvider } from '../../src/sandbox/localChain.js'
import { drawSecrets, publicIdentity, type SandboxSecrets } from '../../src/sandbox/secrets.js'
import { grantedOrder, grantOrders, portfolioUpdate } from '../../test/support/authorizations.js'

/** A chain of its own, and an enclave's key that signs as many authorizations as are wanted. */
export interface RelayChain {
  readonly rpcUrl: string
  readonly chainId: number
  readonly pid: number
  readonly provider: RpcProvider
  readonly contracts: ContractAddresses
  readonly secrets: SandboxSecrets
  /** Of the enclave's key. */
  readonly signer: Hex
  /** An account for each of the three ways of sending, so that none takes another's nonces. */
  readonly accounts: Record<'ceiling' | 'ours' | 'plain', SandboxAccount>
  /** Four for one server. */
  readonly relayers: readonly SandboxAccount[]
  /** The next write of so many portfolios: all can be mined in one block. */
  authorizations(count: number): SignedAuthorization[]
  /** The last of them were not sent: their versions come again. */
  forget(count: number): void
  /** Throws unless each has taken effect. */
  assertEffective(authorizations: readonly SignedAuthorization[]): Promise<void>
  stop(): Promise<void>
}

const BLOCK_SECONDS = 0.1
/** Blocks have room for whatever comes in their time: what is measured is how fast it comes. */
const BLOCK_GAS = 1_000_000_000
/** States that the node keeps: of every block, they would fill the memory. */
const STATES = 32
const RPC_TIMEOUT_MS = 10_000
/** Each has an order that stays open, for which it is written. */
const MOST_PORTFOLIOS = 2_048
/** Small blobs: what a write costs the node is the same for all, and none of the relay's. */
const BLOB: Hex = `0x01${'5a'.repeat(28)}`

function accountAt(index: number): Hex {
  return checksum(bytesToHex(uintToBytes(BigInt(index + 1), 20)))
}

export async function startRelayChain(blockTime = BLOCK_SECONDS): Promise<RelayChain> {
  const args = ['--gas-limit', `${BLOCK_GAS}`, '--prune-history', `${STATES}`]
  const anvil = await startAnvil({ blockTime, args })
  const { rpcUrl, chainId, pid } = anvil
  const provider = new RpcProvider({ urls: [rpcUrl], timeoutMs: RPC_TIMEOUT_MS, chainId })
  try {
    const accounts = castAccounts(anvil)
    const secrets = drawSecrets()
    const signer = publicIdentity(secrets).enclaveSigner
    const local = localProvider(rpcUrl, chainId)
    const { contracts } = await deployAll(local, accounts, signer)
    await grantOrders(
      { provider: local, addresses: contracts },
      Array.from({ length: MOST_PORTFOLIOS }, (_, index) => accountAt(index)),
    )
    local.destroy()
    const [ceiling, plain] = accounts.employees
    const enclave = createEnclave({ chainId, contracts, secrets, provider })
    const stop = async () => {
      provider.destroy()
      await anvil.stop()
    }
    const relayers = [accounts.relayer, ...accounts.employees]
    const senders = { ceiling, plain, ours: accounts.relayer }
    return {
      rpcUrl,
      chainId,
      pid,
      provider,
      contracts,
      secrets,
      signer,
      accounts: senders,
      relayers,
      ...enclave,
      stop,
    }
  } catch (error) {
    provider.destroy()
    await anvil.stop()
    throw error
  }
}

interface Enclave {
  readonly chainId: number
  readonly contracts: ContractAddresses
  readonly secrets: SandboxSecrets
  readonly provider: RpcProvider
}

function createEnclave({ chainId, contracts, secrets, provider }: Enclave) {
  const domain = { chainId, verifyingContract: contracts.confidentialLedger }
  const ledger = createConfidentialLedger(provider, contracts.confidentialLedger)
  /** The ledger's running hash of each portfolio after each of its writes. */
  const histories: Hex[][] = []

  function nextWrite(index: number): SignedAuthorization {
    const history = histories[index] ?? [ZERO_BYTES32]
    histories[index] = history
    const previous = history.at(-1) ?? ZERO_BYTES32
    const write = { version: BigInt(history.length), previous, enclaveBlob: BLOB, userBlob: BLOB }
    history.push(portfolioHashAfter(previous, write))
    return signAuthorization(
      portfolioUpdate(grantedOrder(accountAt(index)), write),
      domain,
      secrets.enclavePrivateKey,
    )
  }

  return {
    authorizations: (count: number) => Array.from({ length: count }, (_, index) => nextWrite(index)),
    forget(count: number) {
      for (const history of histories.slice(0, count)) history.pop()
    },
    async assertEffective(authorizations: readonly SignedAuthorization[]) {
      const used = await Promise.all(
        authorizations.map((authorization) => ledger.usedDigest(authorizationDigest(authorization, domain))),
      )
      const missing = used.filter((isUsed) => !isUsed).length
      if (missing > 0) throw new Error(`${missing} of ${used.length} authorizations have no effect`)
    },
  }
}
