import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
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
import { castAccounts, type SandboxAccount } from '../../src/sandbox/accounts.js'
import { startAnvil } from '../../src/sandbox/anvil.js'
import { deployAll, localProvider } from '../../src/sandbox/localChain.js'
import { claimPorts } from '../../src/sandbox/ports.js'
import { drawSecrets, publicIdentity } from '../../src/sandbox/secrets.js'
import { grantedOrder, grantOrders, portfolioUpdate } from '../../test/support/authorizations.js'
import type { BenchContext } from './figure.js'
import { type Generator, type LoadRequest, startGenerator } from './load.js'
import { type BareChain, BENCH_DIRECTORY, bareEnvironment, settingsText } from './platform.js'
import { MEMORY_OPTIONS, type ServerProcess, startServerProcess } from './processes.js'

/** A chain of its own, and an enclave's key that signs as many authorizations as are wanted. */
export interface RelayChain extends BareChain {
  readonly pid: number
  readonly rpc: Rpc
  /** The address of the enclave's key. */
  readonly signer: Hex
  /** An account for each of the three ways of sending, so that none takes another's nonces. */
  readonly accounts: Record<'ceiling' | 'ours' | 'plain', SandboxAccount>
  /** Four for one server, or one for each of four; and another. */
  readonly relayers: readonly SandboxAccount[]
  /** The next write of so many portfolios: all can be mined in one block. */
  authorizations(count: number): SignedAuthorization[]
  /** The next write of one of the portfolios. */
  nextWrite(portfolio: number): SignedAuthorization
  /** Takes back the last write of so many portfolios, which was not sent. */
  forget(count: number): void
  /** Throws unless each has taken effect. */
  assertEffective(authorizations: readonly SignedAuthorization[]): Promise<void>
  stop(): Promise<void>
}

const BLOCK_SECONDS = 0.1
/** So much room in a block that only the rate of sending is measured. */
const BLOCK_GAS = 1_000_000_000
/** States that the node keeps: those of every block would fill the memory. */
const STATES = 32
const RPC_TIMEOUT_MS = 10_000
/** Each has an order that stays open, for which it is written. */
const MOST_PORTFOLIOS = 2_048
/** Small blobs: a write costs the node the same whichever way it was sent. */
const BLOB: Hex = `0x01${'5a'.repeat(28)}`

function accountAt(index: number): Hex {
  return checksum(bytesToHex(uintToBytes(BigInt(index + 1), 20)))
}

export async function startRelayChain(blockTime = BLOCK_SECONDS): Promise<RelayChain> {
  const args = ['--gas-limit', `${BLOCK_GAS}`, '--prune-history', `${STATES}`]
  const anvil = await startAnvil({ blockTime, args })
  const { rpcUrl, chainId, pid } = anvil
  const rpc = createRpc({ urls: [rpcUrl], timeoutMs: RPC_TIMEOUT_MS, chainId })
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
    const ours = accounts.relayer
    const chain = { rpcUrl, chainId, contracts, secrets, relayerPrivateKey: ours.privateKey }
    return {
      ...chain,
      pid,
      rpc,
      signer,
      accounts: { ceiling, plain, ours },
      relayers: [ours, ...accounts.employees, accounts.newcomer],
      ...createEnclave(chain, rpc),
      stop: anvil.stop,
    }
  } catch (error) {
    await anvil.stop()
    throw error
  }
}

function createEnclave({ chainId, contracts, secrets }: BareChain, rpc: Rpc) {
  const domain = { chainId, verifyingContract: contracts.confidentialLedger }
  const ledger = createConfidentialLedger(createViewCaller(rpc), contracts.confidentialLedger)
  /** The ledger's running hash of each portfolio after each of its writes. */
  const histories: Hex[][] = []

  function nextWrite(index: number): SignedAuthorization {
    const history = histories[index] ?? [ZERO_BYTES32]
    histories[index] = history
    const previous = history.at(-1) ?? ZERO_BYTES32
    const write = { version: BigInt(history.length), previous, enclaveBlob: BLOB, userBlob: BLOB }
    history.push(portfolioHashAfter(previous, write))
    const update = portfolioUpdate(grantedOrder(accountAt(index)), write)
    return signAuthorization(update, domain, secrets.enclavePrivateKey)
  }

  return {
    nextWrite,
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

/** Differences from the defaults: as many under way as there are callers, on a chain with ten blocks a second. */
function settingsFor(callers: number): Record<string, string> {
  return {
    MAX_CONNECTIONS_PER_CLIENT: `${2 * callers}`,
    RELAY_MAX_IN_FLIGHT: `${callers}`,
    RELAY_MAX_QUEUED: `${callers}`,
    RELAY_POLL_INTERVAL: '50ms',
    // On a busy machine no answer is a 202.
    RELAY_WAIT: '5m',
    RELAY_DAILY_GAS: `${Number.MAX_SAFE_INTEGER}`,
    RELAY_ACCOUNT_DAILY_GAS: `${Number.MAX_SAFE_INTEGER}`,
  }
}

export interface RelayServerOptions {
  readonly directory: string
  readonly callers: number
  readonly nodeOptions: readonly string[]
  /** Besides those for so many callers. */
  readonly settings?: Record<string, string>
}

/** The real server on that chain; only its relay is asked. */
export async function startRelayServer(
  chain: RelayChain,
  { directory, callers, nodeOptions, settings }: RelayServerOptions,
): Promise<ServerProcess> {
  await mkdir(directory, { recursive: true })
  const ports = await claimPorts({ server: 0, rpc: 0, broker: 0 })
  const elsewhere = `http://127.0.0.1:${ports.broker}`
  const env = {
    ENV_FILE: '/dev/null',
    ...bareEnvironment(chain),
    // The server would otherwise start an enclave of its own again and again, because an enclave has no configuration here.
    ENCLAVE_TRIGGER: 'http',
    ENCLAVE_URL: elsewhere,
    ENCLAVE_TRIGGER_SECRET: `whsec_${Buffer.alloc(32, 9).toString('base64')}`,
    ALPACA_TRADING_URL: elsewhere,
    ALPACA_DATA_URL: elsewhere,
    ...settingsFor(callers),
    ...settings,
    HOST: '127.0.0.1',
    PORT: `${ports.server}`,
    OPS_PORT: '0',
    DATA_DIR: join(directory, 'data'),
  }
  const url = `http://127.0.0.1:${ports.server}`
  return startServerProcess({ directory, url, env, nodeOptions: [...nodeOptions, ...MEMORY_OPTIONS] })
}

/** Everything that the relay is measured with. */
export interface RelayPlatform {
  readonly chain: RelayChain
  readonly server: ServerProcess
  readonly generator: Generator
}

/** Starts the real server on a chain, for as long as it is measured. */
export async function withRelay<T>(
  chain: RelayChain,
  { nodeOptions, print }: Pick<BenchContext, 'nodeOptions' | 'print'>,
  { callers, settings = {} }: Pick<RelayServerOptions, 'callers' | 'settings'>,
  action: (platform: RelayPlatform) => Promise<T>,
): Promise<T> {
  const directory = join(BENCH_DIRECTORY, `relay-${Date.now()}`)
  const server = await startRelayServer(chain, { directory, callers, nodeOptions, settings })
  const generator = startGenerator()
  try {
    print(`measuring ${server.url}, with ${settingsText(settingsFor(callers))}`)
    return await action({ chain, server, generator })
  } finally {
    await Promise.all([server.stop(), generator.stop()])
    await rm(directory, { recursive: true })
  }
}

export function relayRequest(authorization: SignedAuthorization): LoadRequest {
  const body = JSON.stringify(z.encode(signedAuthorizationSchema, authorization))
  return { method: 'POST', path: '/relay', body }
}

export function relayHeaders({ secrets }: RelayChain): Record<string, string> {
  return { authorization: `Bearer ${secrets.relayAuthToken}` }
}
