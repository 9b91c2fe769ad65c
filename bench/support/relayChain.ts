import { z } from 'zod'
import { createConfidentialLedger } from '../../src/chain/contracts.js'
import { createRpc, type Rpc } from '../../src/chain/rpc.js'
import { createViewCaller } from '../../src/chain/views.js'
import { checksum } from '../../src/protocol/address.js'
import {
  authorizationDigest,
  type SignedAuthorization,
  signAuthorization,
  signedAuthorizationSchema,
} from '../../src/protocol/authorization.js'
import { bytesToHex, type Hex, uintToBytes, ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { portfolioHashAfter } from '../../src/protocol/ledgerBlob.js'
import type { SandboxAccount } from '../../src/sandbox/accounts.js'
import { domainOf, grantedOrder, grantOrders, portfolioUpdate } from '../../test/support/authorizations.js'
import { startTestChain, type TestChain } from '../../test/support/chain.js'
import { chainEnvironment } from '../../test/support/intakeServer.js'
import { ENCLAVE_KEY, ENCLAVE_SIGNER } from '../../test/support/roles.js'
import { SERVER_ENVIRONMENT } from '../../test/support/serverEnvironment.js'
import type { BenchContext } from './figure.js'
import type { LoadRequest } from './load.js'
import { type Server, startServer } from './platform.js'

/** A chain of its own, and an enclave's key that signs as many authorizations as are wanted. */
export interface RelayChain extends TestChain {
  readonly rpc: Rpc
  /** Any of them may relay. */
  readonly accounts: readonly SandboxAccount[]
  /**
   * So many portfolios that nothing else writes. Each has an order that stays open, for which it is written.
   * @returns makes the next write of each: all of these can be mined in one block
   */
  portfolios(count: number): Promise<() => SignedAuthorization[]>
  /** Throws unless each has taken effect. */
  assertEffective(authorizations: readonly SignedAuthorization[]): Promise<void>
}

const BLOCK_SECONDS = 0.1
/** So much room in a block that only the rate of sending is measured. */
const BLOCK_GAS = 1_000_000_000
/** States that the node keeps: those of every block would fill the memory. */
const STATES = 32
const RPC_TIMEOUT_MS = 10_000
/** Small blobs: a write costs the node the same whichever way it was sent. */
const BLOB: Hex = `0x01${'5a'.repeat(28)}`
const ADDRESS_BYTES = 20

export async function startRelayChain(
  { cleanUp }: Pick<BenchContext, 'cleanUp'>,
  blockTime = BLOCK_SECONDS,
): Promise<RelayChain> {
  const args = ['--gas-limit', `${BLOCK_GAS}`, '--prune-history', `${STATES}`]
  const chain = await startTestChain({ blockTime, args })
  cleanUp.add(chain.stop)
  const { rpcUrl, chainId, accounts } = chain.anvil
  const rpc = createRpc({ urls: [rpcUrl], timeoutMs: RPC_TIMEOUT_MS, chainId })
  const domain = domainOf(chain, 'PortfolioUpdate')
  const ledger = createConfidentialLedger(createViewCaller(rpc), chain.addresses.confidentialLedger)
  let owners = 0n

  async function portfolios(count: number) {
    const own = Array.from({ length: count }, () => {
      const owner = checksum(bytesToHex(uintToBytes(++owners, ADDRESS_BYTES)))
      return { owner, version: 0n, hash: ZERO_BYTES32 }
    })
    await grantOrders(
      chain,
      own.map(({ owner }) => owner),
    )
    return () =>
      own.map((portfolio) => {
        const { owner, hash: previous } = portfolio
        const write = { version: ++portfolio.version, previous, enclaveBlob: BLOB, userBlob: BLOB }
        portfolio.hash = portfolioHashAfter(previous, write)
        return signAuthorization(portfolioUpdate(grantedOrder(owner), write), domain, ENCLAVE_KEY)
      })
  }

  return {
    ...chain,
    rpc,
    accounts,
    portfolios,
    async assertEffective(authorizations) {
      const digests = authorizations.map((authorization) => authorizationDigest(authorization, domain))
      const used = await Promise.all(digests.map((digest) => ledger.usedDigest(digest)))
      const missing = used.filter((isUsed) => !isUsed).length
      if (missing > 0) throw new Error(`${missing} of ${used.length} authorizations have no effect`)
    },
  }
}

/** At most so many callers, each of whom can have a transaction under way. */
export const MOST_CALLERS = 512

/** Differences from the defaults, for a chain with ten blocks a second. */
const RELAY_SETTINGS = {
  RATE_LIMIT_PER_MINUTE: '1000000000',
  MAX_CONNECTIONS_PER_CLIENT: `${2 * MOST_CALLERS}`,
  MAX_UNDER_WAY_PER_CLIENT: '10000',
  RELAY_MAX_IN_FLIGHT: `${MOST_CALLERS}`,
  RELAY_MAX_QUEUED: `${MOST_CALLERS}`,
  RELAY_POLL_INTERVAL: '50ms',
  // On a busy machine no answer is a 202.
  RELAY_WAIT: '5m',
  RELAY_DAILY_GAS: `${Number.MAX_SAFE_INTEGER}`,
  RELAY_ACCOUNT_DAILY_GAS: `${Number.MAX_SAFE_INTEGER}`,
}

/** The real server on that chain with these relayer accounts; only its relay is asked. */
export async function startRelayServer(
  chain: RelayChain,
  context: BenchContext,
  accounts: readonly SandboxAccount[],
  settings: Record<string, string> = {},
): Promise<Server> {
  return startServer(context, { ...relayEnvironment(chain, accounts), ...settings })
}

export function relayEnvironment(
  chain: RelayChain,
  accounts: readonly SandboxAccount[],
): Record<string, string> {
  return {
    ENV_FILE: '/dev/null',
    ...SERVER_ENVIRONMENT,
    ...chainEnvironment(chain),
    ENCLAVE_SIGNER,
    RELAYER_PRIVATE_KEY: '',
    RELAYER_PRIVATE_KEYS: accounts.map(({ privateKey }) => privateKey).join(','),
    ...RELAY_SETTINGS,
  }
}

export function relayRequest(authorization: SignedAuthorization): LoadRequest {
  const body = JSON.stringify(z.encode(signedAuthorizationSchema, authorization))
  return { method: 'POST', path: '/relay', body }
}

export const RELAY_HEADERS = { authorization: `Bearer ${SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN}` }
