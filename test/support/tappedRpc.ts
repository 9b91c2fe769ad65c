import { createBatcher, createRpc, type Rpc, type RpcAnswer, type RpcCall } from '../../src/chain/rpc.js'
import type { TestChain } from './chain.js'

/** Nodes of a test's chain, as the enclave asks them. */
export function rpcOf({ anvil }: Pick<TestChain, 'anvil'>): Rpc {
  const { chainId, rpcUrl } = anvil
  return createRpc({ chainId, urls: [rpcUrl], timeoutMs: 20_000, shareAnswers: false })
}

/** The same nodes; `around` decides on each request, before it is sent and after. */
export function tappedRpc(
  rpc: Pick<Rpc, 'send'>,
  around: (calls: readonly RpcCall[], send: () => Promise<RpcAnswer[]>) => Promise<RpcAnswer[]>,
): Pick<Rpc, 'send'> {
  const request: Rpc['send'] = (calls, signal) => around(calls, () => rpc.send(calls, signal))
  return { send: createBatcher(request, { shareAnswers: false }) }
}
