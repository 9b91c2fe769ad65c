import { type JsonRpcProvider, Wallet } from 'ethers'
import { gasLimitOf } from '../chain/gasLimit.js'
import { blockCall, blockSchema, resultOf } from '../chain/jsonRpc.js'
import { waitForReceipt } from '../chain/waitForReceipt.js'
import { checksum } from '../protocol/address.js'
import type { Hex } from '../protocol/hex.js'
import { ConfigError, type Environment } from '../service/config.js'
import type { Secret } from '../service/secret.js'
import { CommandError } from '../terminal/failure.js'
import { connectNode, type NodeConnection } from '../terminal/node.js'
import type { Speech } from './io.js'
import { readRpcUrls } from './settings.js'

const MINED_TIMEOUT_MS = 180_000

/** The chain that the operator acts on. */
export interface Chain extends NodeConnection {
  close(): void
}

/**
 * Connects to `RPC_URL`.
 * @param expected the deployment's chain id, which the node must have; null for any
 * @throws ConfigError, ChainUnavailableError, ChainAnswerError
 */
export async function connectChain(env: Environment, expected: number | null): Promise<Chain> {
  const node = await connectNode(readRpcUrls(env))
  const { chainId, provider } = node
  const close = () => provider.destroy()
  if (expected === null || chainId === expected) return { ...node, close }
  close()
  const problem = `is a node of chain ${chainId}, not of chain ${expected}`
  throw new ConfigError([{ name: 'RPC_URL', problem }])
}

/** The chain's time, in Unix seconds. */
export async function timeOf(rpc: Chain['rpc']): Promise<number> {
  const [answer] = await rpc.send([blockCall('latest')])
  return resultOf(answer, blockSchema).timestamp
}

export function walletOf(key: Secret<string>, { provider }: Pick<Chain, 'provider'>): Wallet {
  return new Wallet(key.reveal(), provider)
}

/** A transaction to send. */
export interface Call {
  readonly to: Hex
  readonly data?: string
  /** Wei. */
  readonly value?: bigint
  /** Its effect, for people. */
  readonly text: string
}

/**
 * Sends the calls one after the other and waits for each. Looks before each whether it would revert, so that a refused
 * call costs no gas.
 * @returns the hashes of the transactions
 * @throws the contract's error, `insufficient-funds`, `reverted`, `transaction-pending`
 */
export async function sendCalls(
  { provider }: Pick<Chain, 'provider'>,
  wallet: Wallet,
  calls: readonly Call[],
  speech: Speech,
): Promise<string[]> {
  const hashes: string[] = []
  for (const call of calls) {
    const { text: _, ...request } = call
    await requireEther(provider, wallet, request.value ?? 0n)
    await provider.call({ ...request, from: wallet.address })
    const estimate = await provider.estimateGas({ ...request, from: wallet.address })
    const { hash } = await wallet.sendTransaction({ ...request, gasLimit: gasLimitOf(estimate) })
    speech.say(`${call.text}: sent ${hash}`)
    const receipt = await waitForReceipt(provider, hash, MINED_TIMEOUT_MS)
    if (receipt === null) throw new CommandError('transaction-pending', `${hash} is not mined yet`)
    if (receipt.status !== 1) throw new CommandError('reverted', `${hash} reverted in its block`)
    hashes.push(hash)
  }
  return hashes
}

/** Nodes say it in many ways, some as if the call reverted. What the gas costs is only known when it is sent. */
async function requireEther(provider: JsonRpcProvider, { address }: Wallet, value: bigint): Promise<void> {
  if ((await provider.getBalance(address)) > value) return
  throw new CommandError('insufficient-funds', `${address} does not have enough ether`)
}

export function addressOf(wallet: Wallet): Hex {
  return checksum(wallet.address)
}
