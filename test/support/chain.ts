// One local chain per test file, with the real contracts on it.
import { Interface, type JsonRpcProvider, type TransactionReceipt } from 'ethers'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { type Deployment, deployContracts } from '../../src/chain/deploy.js'
import { interfaces } from '../../src/chain/interfaces.js'
import { revertOf } from '../../src/chain/reverts.js'
import { waitForReceipt } from '../../src/chain/waitForReceipt.js'
import type { Hex } from '../../src/protocol/hex.js'
import { firstCreationOf, sharesAddressOf } from '../../src/protocol/identifiers.js'
import { type AnvilOptions, startAnvil } from '../../src/sandbox/anvil.js'
import { testUsdcAbi } from '../../src/sandbox/generated/testUsdc.js'
import { deployTestUsdc, oneByOne } from '../../src/sandbox/localChain.js'
import { ENCLAVE_SIGNER, ROLES, type Role } from './roles.js'
import { type Deployed, loadChain, saveChain } from './savedChains.js'

/** Encoders and decoders of the contracts, by a short name. */
export const INTERFACES = {
  registry: interfaces.institutionRegistry,
  escrow: interfaces.orderEscrow,
  ledger: interfaces.confidentialLedger,
  token: interfaces.equityToken,
  aapl: interfaces.equityShares,
  msft: interfaces.equityShares,
  actions: interfaces.corporateActions,
  pool: interfaces.platformPool,
  usdc: new Interface(testUsdcAbi),
  authority: interfaces.authority,
}
export type ContractKey = keyof typeof INTERFACES

/** Enough for every function, and below what one transaction may use (EIP-7825). Nothing is estimated. */
const GAS_LIMIT = '0xf42400'

/** A transaction's sender: a role, or any address that the node lets act. */
export type Sender = Role | Hex

/** A local chain with everything deployed and nothing set up. */
export type TestChain = ReturnType<typeof chainOf>

export interface TestChainOptions extends AnvilOptions {
  /** Deploys what the contracts take for USDC. Default: the sandbox's. */
  deployUsdc?: typeof deployTestUsdc | undefined
  /** Seconds; what is absent is as in TEST_DELAYS. */
  delays?: Partial<Deployment['delays']> | undefined
  /** Null where the deployment names none. Default: the address of the tests' key. */
  enclaveSigner?: Deployment['enclaveSigner'] | undefined
}

/** Rotations take effect at once; a pause and a leave take days. */
export const TEST_DELAYS: Deployment['delays'] = { rotation: 0, pause: 3 * 86_400, leave: 7 * 86_400 }

/** Starts a chain and deploys. The caller stops it. */
export async function startTestChain(options: TestChainOptions = {}): Promise<TestChain> {
  const { deployUsdc, delays, enclaveSigner, ...anvilOptions } = options
  const node = await startNode(anvilOptions)
  return chainOf(node, await deploy(node, { deployUsdc, delays, enclaveSigner }))
}

/** A chain as another file of this run has left it after the same set-up, or else set up and saved for the others. */
async function startSavedChain(setUp: SetUp): Promise<TestChain> {
  const { saved } = setUp
  const node = await startNode()
  const { provider } = node
  const ready = saved === undefined ? undefined : await loadChain(provider, saved)
  if (ready) return chainOf(node, ready)
  const loaded = await loadChain(provider, DEPLOYED)
  const deployed = loaded ?? (await deploy(node, {}))
  if (loaded === undefined) await saveChain(provider, DEPLOYED, deployed)
  const chain = chainOf(node, deployed)
  await setUp(chain)
  if (saved !== undefined) await saveChain(provider, saved, deployed)
  return chain
}

type Node = Awaited<ReturnType<typeof startNode>>

/** A chain without contracts. */
async function startNode(options: AnvilOptions = {}) {
  // A saved chain's state has more than the 2 MB that a request may have.
  const anvil = await startAnvil({ ...options, args: ['--no-request-size-limit', ...(options.args ?? [])] })
  const account = (role: Role): Hex => {
    const found = anvil.accounts[ROLES.indexOf(role)]
    if (!found) throw new Error(`the chain has no account for ${role}`)
    return found.address
  }
  return { anvil, provider: anvil.provider, account }
}

async function deploy(
  { provider, account }: Node,
  {
    deployUsdc = deployTestUsdc,
    delays,
    enclaveSigner = ENCLAVE_SIGNER,
  }: Pick<TestChainOptions, 'deployUsdc' | 'delays' | 'enclaveSigner'>,
): Promise<Deployed> {
  const deployer = oneByOne(await provider.getSigner(account('deployer')), provider)
  const usdc = await deployUsdc(deployer, provider)
  const { contracts, authority } = await deployContracts({
    deployer,
    owner: account('owner'),
    guardian: account('guardian'),
    enclaveSigner,
    usdc,
    brokerFunding: account('broker'),
    delays: { ...TEST_DELAYS, ...delays },
  })
  return { contracts, usdc, authority }
}

function chainOf({ anvil, provider, account }: Node, { contracts, usdc, authority }: Deployed) {
  const byKey = {
    registry: contracts.institutionRegistry,
    escrow: contracts.orderEscrow,
    ledger: contracts.confidentialLedger,
    token: contracts.equityToken,
    aapl: sharesAddressOf(contracts.equityToken, 'AAPL'),
    msft: sharesAddressOf(contracts.equityToken, 'MSFT'),
    actions: firstCreationOf(contracts.confidentialLedger),
    pool: contracts.platformPool,
    usdc,
    authority,
  }
  const { stop } = anvil
  return { anvil, provider, addresses: contracts, account, stop, ...bind(provider, byKey, account) }
}

/** The actions on the contracts at these addresses. */
function bind(provider: JsonRpcProvider, byKey: Record<ContractKey, Hex>, account: (role: Role) => Hex) {
  const transaction = (from: Sender, contract: ContractKey, method: string, args: unknown[]) => ({
    from: isRole(from) ? account(from) : from,
    to: byKey[contract],
    data: INTERFACES[contract].encodeFunctionData(method, args),
  })
  return {
    addressOf: (contract: ContractKey) => byKey[contract],
    /** Sends a transaction and resolves when it is mined; rejects when it reverts. */
    async send(from: Sender, contract: ContractKey, method: string, ...args: unknown[]) {
      const request = { ...transaction(from, contract, method, args), gas: GAS_LIMIT }
      const hash = await provider.send('eth_sendTransaction', [request])
      const receipt = await waitForReceipt(provider, hash)
      if (receipt?.status !== 1) throw new Error(`${contract}.${method} reverted in its block`)
      return receipt
    },
    /** Reads a view. */
    async read(contract: ContractKey, method: string, ...args: unknown[]): Promise<unknown> {
      const { to, data } = transaction('deployer', contract, method, args)
      const result = INTERFACES[contract].decodeFunctionResult(method, await provider.call({ to, data }))
      return result.length === 1 ? result[0] : result.toArray()
    },
    /** A call's revert, or null when it would succeed. Sends nothing. */
    async revert(from: Sender, contract: ContractKey, method: string, ...args: unknown[]) {
      try {
        await provider.send('eth_call', [transaction(from, contract, method, args), 'latest'])
        return null
      } catch (cause) {
        const revert = revertOf(cause)
        if (!revert) throw cause
        return revert
      }
    },
    /** The events of our contracts in a receipt, in their order; inherited ones too. */
    events: (receipt: TransactionReceipt) => decodeEvents(receipt, byKey),
    /** The time of the last block in Unix seconds. */
    async now() {
      const block = await provider.getBlock('latest')
      if (!block) throw new Error('the chain has no block')
      return block.timestamp
    },
    /** Mines a block at that time. */
    async mineAt(timestamp: number) {
      await provider.send('evm_setNextBlockTimestamp', [timestamp])
      await provider.send('evm_mine', [])
    },
  }
}

function isRole(sender: Sender): sender is Role {
  return ROLES.some((role) => role === sender)
}

function decodeEvents({ logs }: TransactionReceipt, byKey: Record<ContractKey, Hex>) {
  const keys: ContractKey[] = [
    ...(['registry', 'escrow', 'ledger', 'token', 'aapl', 'msft'] as const),
    ...(['actions', 'pool', 'usdc', 'authority'] as const),
  ]
  return logs.flatMap((log) => {
    const contract = keys.find((key) => byKey[key] === log.address)
    const event = contract && INTERFACES[contract].parseLog(log)
    return contract && event ? [{ contract, name: event.name, args: event.args.toArray() }] : []
  })
}

export interface SetUp {
  (chain: TestChain): Promise<void>
  /** Under this name its outcome is kept for the other files of a run. Not where it leaves anything but a chain. */
  readonly saved?: string
}

/** The name of the state in which the contracts are deployed, and nothing is set up. */
const DEPLOYED = 'deployed'

/**
 * A chain for a test file, to be used inside of its tests and hooks. `setUp` runs once; what a test changes
 * after it is undone after the test.
 */
export function useChain(setUp: SetUp = async () => {}, options: TestChainOptions = {}): () => TestChain {
  let started: TestChain | undefined
  let snapshot: unknown
  const chain = (): TestChain => {
    if (!started) throw new Error('the chain starts before the first test, not before')
    return started
  }
  beforeAll(async () => {
    if (Object.keys(options).length === 0) {
      started = await startSavedChain(setUp)
      return
    }
    started = await startTestChain(options)
    await setUp(started)
  })
  beforeEach(async () => {
    snapshot = await chain().provider.send('evm_snapshot', [])
  })
  afterEach(async () => {
    await chain().provider.send('evm_revert', [snapshot])
  })
  afterAll(async () => {
    await started?.stop()
  })
  return chain
}
