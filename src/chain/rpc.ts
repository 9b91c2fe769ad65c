import { ChainUnavailableError } from './errors.js'
import {
  isResult,
  mayBeNodeFailure,
  type NodeFault,
  type RpcAnswer,
  type RpcCall,
  smallQuantitySchema,
} from './jsonRpc.js'
import { createRpcNode, type RpcNode } from './rpcNode.js'

export type { NodeFault, RpcAnswer, RpcCall, RpcError } from './jsonRpc.js'

interface RpcOptions {
  /** Nodes of one chain, in order of preference. */
  urls: readonly string[]
  /** Time that one node gets for one request. */
  timeoutMs: number
  /** Whether identical calls in the same turn of the event loop share one answer. By default they do. */
  shareAnswers?: boolean
  /** Asked of a node before its first use, and again after it was set aside; unchecked by default. */
  chainId?: number | undefined
  /** Called when a node is set aside, and with null when it is back. `node` is its place among the URLs. */
  onNodeChange?: ((node: number, fault: NodeFault | null) => void) | undefined
  /** Called for each HTTP request to a node that was not given up: its answers, null without any, and its duration. */
  onRequest?: ((node: number, answers: RpcAnswer[] | null, durationMs: number) => void) | undefined
}

/** One node of several. */
export interface SingleNode {
  /** Null when it failed as a whole. */
  send(calls: readonly RpcCall[]): Promise<RpcAnswer[] | null>
}

/**
 * Nodes in order of preference, which all callers of a program share. One that fails is set aside, for longer each time, and
 * returns when it answers a health check: no caller waits for a node that is down. A node that stays behind the others is set
 * aside, too, until it has caught up. When none is healthy, all are asked nevertheless: first those whose rest is over, last
 * those that are behind.
 */
export function createRpc(options: RpcOptions) {
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
    return { healthy, others: others.toSorted((a, b) => rank(a) - rank(b)) }
  }

  async function request(calls: readonly RpcCall[], signal?: AbortSignal): Promise<RpcAnswer[]> {
    const { healthy, others } = healthyFirst()
    let partial: RpcAnswer[] | undefined
    for (const node of [...healthy, ...others]) {
      if (partial !== undefined && !node.isHealthy()) continue
      const found = await node.send(calls, signal)
      if (found?.isPartial === false && !mayBeNodeFailure(calls, found.answers)) return found.answers
      if (partial === undefined || countResults(found?.answers) > countResults(partial))
        partial = found?.answers
      signal?.throwIfAborted()
    }
    if (partial === undefined) throw new ChainUnavailableError(urls.length)
    return partial
  }

  return {
    /**
     * Answers in the order of the calls, all by one node and in one HTTP request, unless the node refuses so many: then in several.
     * Calls that other callers make in the same turn of the event loop, with the same signal, travel with them.
     *
     * The next node is asked when one fails as a whole (no answer in time, HTTP error, not JSON-RPC, another chain). So it is when
     * one refuses a call by its rate limit, or answers with errors that may be its own. Any other error for a single call is an
     * answer. When no healthy node remains, the answers with the most results stand.
     * @throws ChainUnavailableError when no node answered
     */
    send: createBatcher(request, options),
    /** Makes every node state its chain id again before its next use: one may have moved to another chain. */
    doubt(): void {
      for (const node of nodes) node.doubt()
    },
    /** Asks every healthy node, or all when none is known to be healthy. */
    toAll<T>(ask: (node: SingleNode) => Promise<T>): Promise<T[]> {
      const { healthy } = healthyFirst()
      const asked = healthy.length > 0 ? healthy : nodes
      return Promise.all(asked.map((node) => ask(singleNode(node))))
    },
    /** Why each node is set aside, null when it is not. Asks none of them. */
    faults: (): (NodeFault | null)[] => nodes.map((node) => node.fault()),
  }
}

/** The chain's nodes. */
export type Rpc = ReturnType<typeof createRpc>

function countResults(answers: readonly RpcAnswer[] = []): number {
  return answers.filter(isResult).length
}

/** The order in which unhealthy nodes are asked. */
function rank(node: RpcNode): number {
  return node.fault() === 'behind' ? Number.MAX_SAFE_INTEGER : node.retryAt()
}

/** Returns partial answers too: a node that accepted some transactions of a batch has accepted them. */
function singleNode(node: RpcNode): SingleNode {
  return { send: async (calls) => (await node.send(calls))?.answers ?? null }
}

/** Between two comparisons. */
const INTERVAL_MS = 5_000
/** How many blocks a node may always be behind. */
const TOLERATED_BLOCKS = 2
/** A node that is further behind for this long is set aside. */
const PATIENCE_MS = 10_000

/**
 * Compares the nodes' heads in the background. It finds a node that stands still, although each of its answers is well-formed,
 * and one that answers without a head while another has one. A node is compared with where another node was at
 * the comparison before: on a quick chain, whose blocks come faster than answers, heads requested side by side differ.
 *
 * @returns a function to call with each request, which does not wait for it
 */
function createHeadComparison(nodes: readonly RpcNode[]): () => void {
  const behindSince = new Map<RpcNode, number>()
  let comparedAt = performance.now()
  let highestBefore = 0

  function judge(node: RpcNode, isBehind: boolean): void {
    if (!isBehind) behindSince.delete(node)
    else if (!behindSince.has(node)) behindSince.set(node, performance.now())
    const since = behindSince.get(node)
    if (since === undefined) node.setBehind(false)
    else if (performance.now() - since >= PATIENCE_MS) node.setBehind(true)
  }

  async function compare(): Promise<void> {
    const answering = nodes.filter((node) => node.fault() === null || node.fault() === 'behind')
    const found = await Promise.all(answering.map(async (node) => ({ node, head: await headOf(node) })))
    const answered = found.filter(({ head }) => head !== 'no-answer')
    const heads = answered.flatMap(({ head }) => (typeof head === 'number' ? [head] : []))
    // With one answer there is nothing to compare it with.
    if (answered.length < 2 || heads.length === 0) return
    const expected = highestBefore - TOLERATED_BLOCKS
    // Not the highest ever: on a chain that was reset that would be out of reach.
    highestBefore = Math.max(...heads)
    for (const { node, head } of answered) judge(node, typeof head !== 'number' || head < expected)
  }

  return () => {
    if (nodes.length < 2 || performance.now() - comparedAt < INTERVAL_MS) return
    comparedAt = performance.now()
    void compare()
  }
}

/** A node that answers without a number has lost its chain, and so is behind every node that has one. */
async function headOf(node: RpcNode): Promise<number | 'no-number' | 'no-answer'> {
  const found = await node.send([{ method: 'eth_blockNumber', params: [] }])
  if (found === null) return 'no-answer'
  const [answer] = found.answers
  return (isResult(answer) ? smallQuantitySchema.safeParse(answer.result).data : undefined) ?? 'no-number'
}

/**
 * Gathers the items of one turn of the event loop, and passes them on in groups, in the same order. Under load many items share
 * a group; a single item is not delayed.
 *
 * @param limit what the sizes in one group may add up to; a larger item has a group of its own
 */
export function createTurnGroups<T>(
  { limit, sizeOf }: { limit: number; sizeOf: (item: T) => number },
  handle: (group: readonly T[]) => void,
): (item: T) => void {
  let gathered: T[] = []

  function flush(): void {
    const items = gathered
    gathered = []
    let group: T[] = []
    let size = 0
    for (const item of items) {
      const added = sizeOf(item)
      if (group.length > 0 && size + added > limit) {
        handle(group)
        group = []
        size = 0
      }
      group.push(item)
      size += added
    }
    handle(group)
  }

  return (item) => {
    if (gathered.length === 0) setImmediate(flush)
    gathered.push(item)
  }
}

/** Characters of parameters in one request: nodes refuse bodies of some megabytes. */
export const REQUEST_LIMIT = 1_048_576
/** Public nodes accept no more in one request. */
const MAX_CALLS = 100
const LEAST_SIZE = Math.floor(REQUEST_LIMIT / MAX_CALLS)

/** A call's part of {@link REQUEST_LIMIT}: a hundred calls fill a request, however short they are. */
export function sizeOfCall({ params }: RpcCall): number {
  return Math.max(JSON.stringify(params).length, LEAST_SIZE)
}

interface Waiting {
  readonly calls: readonly RpcCall[]
  readonly resolve: (answers: RpcAnswer[]) => void
  readonly reject: (error: unknown) => void
}

type Send = (calls: readonly RpcCall[], signal?: AbortSignal) => Promise<RpcAnswer[]>

/**
 * Makes one request of all calls of one turn of the event loop that have the same signal. The calls of one caller stay together.
 * Identical calls of several callers share an answer, unless `shareAnswers` is false. All callers in a request share its failure.
 */
export function createBatcher(
  request: Send,
  { shareAnswers = true }: Pick<RpcOptions, 'shareAnswers'> = {},
): Send {
  const gatherers = new WeakMap<AbortSignal, (waiting: Waiting) => void>()
  const unsignalled = createGatherer(undefined)

  function createGatherer(signal: AbortSignal | undefined) {
    return createTurnGroups<Waiting>(
      { limit: REQUEST_LIMIT, sizeOf: ({ calls }) => calls.reduce((sum, call) => sum + sizeOfCall(call), 0) },
      (group) => void sendTogether(group, signal),
    )
  }

  async function sendTogether(group: readonly Waiting[], signal: AbortSignal | undefined): Promise<void> {
    const calls: RpcCall[] = []
    const places = new Map<string, number>()
    /** A caller that asks the same twice wants to see whether the answer changes in between. */
    const placesOf = (own: readonly RpcCall[]): number[] => {
      let before = -1
      return own.map((call) => {
        const text = JSON.stringify(call)
        const known = shareAnswers ? places.get(text) : undefined
        const place = known === undefined || known <= before ? calls.push(call) - 1 : known
        places.set(text, place)
        before = place
        return place
      })
    }
    const asked = group.map((waiting) => ({ ...waiting, places: placesOf(waiting.calls) }))
    try {
      const answers = await request(calls, signal)
      for (const { places: own, resolve } of asked) resolve(own.flatMap((place) => answers[place] ?? []))
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }

  function gathererOf(signal: AbortSignal | undefined) {
    if (signal === undefined) return unsignalled
    const known = gatherers.get(signal) ?? createGatherer(signal)
    gatherers.set(signal, known)
    return known
  }

  return (calls, signal) => {
    if (calls.length === 0) return Promise.resolve([])
    return new Promise((resolve, reject) => gathererOf(signal)({ calls, resolve, reject }))
  }
}
