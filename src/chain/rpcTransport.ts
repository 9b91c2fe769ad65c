import { ChainUnavailableError } from './errors.js'
import { mayBeNodeFailure } from './nodeFailure.js'
import { createHeadComparison } from './rpcHeads.js'
import { createRpcNode, type RpcNode } from './rpcNode.js'
import type { NodeFault, RpcAnswer, RpcCall } from './rpcRequest.js'

export type { NodeFault, RpcAnswer, RpcCall, RpcError } from './rpcRequest.js'

export interface RpcTransportOptions {
  /** Nodes of one chain, in order of preference. */
  urls: readonly string[]
  /** Time that one node gets for one request. */
  timeoutMs: number
  /** Asked of a node before its first use, and again after it was set aside; unchecked when left out. */
  chainId?: number | undefined
  /** Told when a node is set aside, and with null when it is back. `node` is its place among the URLs. */
  onNodeChange?: ((node: number, fault: NodeFault | null) => void) | undefined
  /** Told of each HTTP request to a node that was not given up: its answers, null without any, and how long it took. */
  onRequest?: ((node: number, answers: RpcAnswer[] | null, durationMs: number) => void) | undefined
}

/** Sends batches of calls, each as one HTTP request. */
export interface RpcTransport {
  /**
   * Answers in the order of the calls. The next node is asked when one fails as a whole (no answer in time, HTTP
   * error, not JSON-RPC, another chain), refuses a call because it is asked too much, or answers with errors that may
   * be its own; any other error for a single call is an answer. When no healthy node is left, the answers stand that have
   * the most results.
   * @throws ChainUnavailableError when no node answered
   */
  send(calls: readonly RpcCall[], signal?: AbortSignal): Promise<RpcAnswer[]>
}

/** One node of several. */
export interface SingleNode {
  /** Null when it failed as a whole. */
  send(calls: readonly RpcCall[]): Promise<RpcAnswer[] | null>
}

/** A transport that can also address every node at once. */
export interface RpcNodes extends RpcTransport {
  /** Has every node say its chain again before its next use: one may have become another's. */
  doubt(): void
  /** Asks every healthy node, or all when none is known to be healthy. */
  toAll<T>(ask: (node: SingleNode) => Promise<T>): Promise<T[]>
  /** Of each node why it is set aside, null when it is not. Asks nobody. */
  faults(): (NodeFault | null)[]
}

/**
 * Nodes in order of preference. One that fails is set aside, for longer each time, and comes back when it answers a
 * question asked beside the traffic: nobody waits for a node that is down. So is one that stays behind the others, until
 * it has caught up. When none is healthy all are asked nevertheless: those first that have rested, and last those that are
 * behind.
 */
export function createRpcTransport(options: RpcTransportOptions): RpcNodes {
  const { urls, timeoutMs, chainId, onNodeChange, onRequest } = options
  const nodes = urls.map((url, index) =>
    createRpcNode({
      url,
      timeoutMs,
      chainId,
      onChange: (fault) => onNodeChange?.(index, fault),
      onRequest: (answers, durationMs) => onRequest?.(index, answers, durationMs),
    }),
  )

  const compareHeads = createHeadComparison(nodes)

  function healthyFirst() {
    compareHeads()
    for (const node of nodes) node.refresh()
    const healthy = nodes.filter((node) => node.isHealthy())
    const others = nodes.filter((node) => !healthy.includes(node))
    return { healthy, others: others.toSorted((a, b) => lateness(a) - lateness(b)) }
  }

  return {
    async send(calls, signal) {
      if (calls.length === 0) return []
      const { healthy, others } = healthyFirst()
      let poor: RpcAnswer[] | undefined
      for (const node of [...healthy, ...others]) {
        if (poor !== undefined && !node.isHealthy()) continue
        const found = await node.send(calls, signal)
        if (found?.isPartial === false && !mayBeNodeFailure(calls, found.answers)) return found.answers
        if (poor === undefined || results(found?.answers) > results(poor)) poor = found?.answers
        signal?.throwIfAborted()
      }
      if (poor === undefined) throw new ChainUnavailableError(urls.length)
      return poor
    },
    doubt() {
      for (const node of nodes) node.doubt()
    },
    toAll(ask) {
      const { healthy } = healthyFirst()
      const asked = healthy.length > 0 ? healthy : nodes
      return Promise.all(asked.map((node) => ask(whole(node))))
    },
    faults: () => nodes.map((node) => node.fault()),
  }
}

function results(answers: readonly RpcAnswer[] = []): number {
  return answers.filter((answer) => 'result' in answer).length
}

/** By which those are ordered that are not healthy. */
function lateness(node: RpcNode): number {
  return node.fault() === 'behind' ? Number.MAX_SAFE_INTEGER : node.retryAt()
}

/** With each answer as the node gave it: one that took some transactions of a batch has taken them. */
function whole(node: RpcNode): SingleNode {
  return { send: async (calls) => (await node.send(calls))?.answers ?? null }
}
