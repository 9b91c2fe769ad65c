import { JsonRpcApiProvider, type JsonRpcPayload, Wallet } from 'ethers'
import { createAuthority, createContracts, createCorporateActions } from '../chain/contracts.js'
import { blockCall, blockSchema, resultOf } from '../chain/jsonRpc.js'
import { readProposals } from '../chain/proposals.js'
import { createViewCaller } from '../chain/views.js'
import { waitForReceipt } from '../chain/waitForReceipt.js'
import type { Hex } from '../protocol/hex.js'
import { ConfigError, type Environment } from '../service/config.js'
import type { Secret } from '../service/secret.js'
import { CommandError } from '../terminal/failure.js'
import { connectNode, type NodeConnection } from '../terminal/node.js'
import { type DeploymentFile, readRpcUrls } from './settings.js'

export const MINED_TIMEOUT_MS = 180_000

/** The chain that the operator acts on. */
export interface Chain extends NodeConnection, Disposable {
  /** ethers over all the nodes. */
  readonly provider: JsonRpcApiProvider
}

/**
 * Connects to the nodes of `RPC_URL`.
 * @param expected the deployment's chain id, which the node must have; null for any
 * @param onSent gets the hash of each transaction before that is mined, which takes a while
 * @throws ConfigError, ChainUnavailableError, ChainAnswerError
 */
export async function connectChain(
  env: Environment,
  expected: number | null,
  onSent?: (hash: string) => void,
): Promise<Chain> {
  const { rpc, chainId } = await connectNode(readRpcUrls(env))
  if (expected !== null && chainId !== expected) {
    const problem = `is a node of chain ${chainId}, not of chain ${expected}`
    throw new ConfigError([{ name: 'RPC_URL', problem }])
  }
  class NodesProvider extends JsonRpcApiProvider {
    override async _send(payload: JsonRpcPayload | JsonRpcPayload[]) {
      const calls = [payload].flat()
      const answers = await rpc.send(calls.map(({ method, params }) => ({ method, params: [params].flat() })))
      return calls.map(({ id, method }, at) => {
        const answer = answers[at] ?? { result: null }
        if (method === 'eth_sendRawTransaction' && 'result' in answer) onSent?.(String(answer.result))
        return { id, ...answer }
      })
    }
  }
  const provider = new NodesProvider(chainId, { staticNetwork: true, cacheTimeout: -1 })
  provider._start()
  return { rpc, chainId, provider, [Symbol.dispose]: () => provider.destroy() }
}

/** The chain's time, in Unix seconds. */
export async function timeOf(rpc: Chain['rpc']): Promise<number> {
  const [answer] = await rpc.send([blockCall('latest')])
  return resultOf(answer, blockSchema).timestamp
}

export function walletOf(key: Secret<string>, { provider }: Pick<Chain, 'provider'>): Wallet {
  return new Wallet(key.reveal(), provider)
}

/** The deployment's contracts, read through the chain's nodes. */
export type Views = ReturnType<typeof viewsOf>

export function viewsOf({ rpc }: Pick<Chain, 'rpc'>, deployment: DeploymentFile) {
  const caller = createViewCaller(rpc)
  const { registry, token, escrow } = createContracts(caller, deployment.contracts)
  const authority = createAuthority(caller, deployment.authority)
  const actions = async () => createCorporateActions(caller, await token.actions())
  const proposals = async () => readProposals(rpc, await actions(), await escrow.deployedAt())
  return { registry, token, escrow, authority, actions, proposals }
}

/**
 * Sends ether, which needs no deployment.
 * @throws CommandError `insufficient-funds`, `reverted`, `transaction-pending`
 */
export async function sendEther({ provider }: Chain, wallet: Wallet, to: Hex, value: bigint) {
  const { address } = wallet
  // Nodes say it in many ways, some as if the call reverted. What the gas costs is only known when it is sent.
  if ((await provider.getBalance(address)) <= value)
    throw new CommandError('insufficient-funds', `${address} does not have enough ether`)
  const { hash } = await wallet.sendTransaction({ to, value })
  const receipt = await waitForReceipt(provider, hash, MINED_TIMEOUT_MS)
  if (receipt === null) throw new CommandError('transaction-pending', `${hash} is not mined yet`)
  if (receipt.status !== 1) throw new CommandError('reverted', `${hash} reverted in its block`)
  return { txHash: hash }
}
