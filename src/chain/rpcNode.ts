import {
  isRateLimited,
  isResult,
  type NodeFault,
  quantitySchema,
  type RpcAnswer,
  type RpcCall,
  request,
} from './jsonRpc.js'

/** A node's answers, in the order of the calls. */
interface BatchAnswer {
  readonly answers: RpcAnswer[]
  /** Some of the calls, not all, were refused for the node's rate limit. */
  readonly isPartial: boolean
}

/**
 * A node that fails rests for a second, then for twice as long each time, up to a minute; or for as long as its
 * `Retry-After` says, within the same limits.
 */
const FIRST_REST_MS = 1_000
const LONGEST_REST_MS = 60_000

/** One node and its health. */
export function createRpcNode(options: {
  readonly url: string
  /** Time that the node gets for one request. */
  readonly timeoutMs: number
  /** The `eth_chainId` that it must have; unchecked without. */
  readonly chainId?: number | undefined
  /** Called when it is set aside, and with null when it is back. */
  readonly onChange: (fault: NodeFault | null) => void
  /** Called for each HTTP request that was not given up: its answers, null without any, and its duration. */
  readonly onRequest?: ((answers: RpcAnswer[] | null, durationMs: number) => void) | undefined
}) {
  const { chainId, onChange } = options
  const mustVerify = chainId !== undefined
  let verified = !mustVerify
  let lastFault: NodeFault | null = null
  let isBehind = false
  let reportedFault: NodeFault | null = null
  let failures = 0
  let retryAt = 0
  let verifying: Promise<boolean> | undefined
  /** Calls that the node accepts in one request, as far as is known. */
  let maxCalls = Number.POSITIVE_INFINITY

  function fault(): NodeFault | null {
    return lastFault ?? (isBehind ? 'behind' : null)
  }

  function reportFault(): void {
    const now = fault()
    if ((now === null) !== (reportedFault === null)) onChange(now)
    reportedFault = now
  }

  function setAside(found: NodeFault, askedMs?: number): void {
    verified = !mustVerify
    lastFault = found
    reportFault()
    // Requests that fail side by side are one failure.
    if (retryAt > performance.now()) return
    const restMs = askedMs ?? FIRST_REST_MS * 2 ** failures
    retryAt = performance.now() + Math.min(Math.max(restMs, FIRST_REST_MS), LONGEST_REST_MS)
    failures++
  }

  function markHealthy(): void {
    verified = true
    lastFault = null
    retryAt = 0
    failures = 0
    reportFault()
  }

  /** Sets the node aside when its answers call for that. Null when none of them is usable. */
  async function ask(calls: readonly RpcCall[], signal?: AbortSignal): Promise<BatchAnswer | null> {
    if (calls.length > maxCalls) return askInParts(calls, maxCalls, signal)
    const startedAt = performance.now()
    const reply = await request(options.url, calls, options.timeoutMs, signal)
    // A caller that gave up says nothing about the node.
    if (signal?.aborted) return null
    const answers = 'answers' in reply ? reply.answers : null
    options.onRequest?.(answers, performance.now() - startedAt)
    if (!('answers' in reply)) {
      if (reply.mayBeTooMany && calls.length > 1) return askInHalves(calls, signal)
      setAside(reply.fault, reply.restMs)
      return null
    }
    const limited = calls.filter((call, index) => isRateLimited(call, reply.answers[index])).length
    if (limited > 0) setAside('rate-limit')
    return limited === calls.length ? null : { answers: reply.answers, isPartial: limited > 0 }
  }

  /** After a node has refused a batch and accepted its halves, it gets no longer batches. */
  async function askInHalves(calls: readonly RpcCall[], signal?: AbortSignal): Promise<BatchAnswer | null> {
    const half = Math.ceil(calls.length / 2)
    const found = await askInParts(calls, half, signal)
    if (found !== null) maxCalls = Math.min(maxCalls, half)
    return found
  }

  async function askInParts(
    calls: readonly RpcCall[],
    size: number,
    signal?: AbortSignal,
  ): Promise<BatchAnswer | null> {
    const parts: BatchAnswer[] = []
    for (let from = 0; from < calls.length; from += size) {
      const found = await ask(calls.slice(from, from + size), signal)
      if (found === null) return null
      parts.push(found)
    }
    return {
      answers: parts.flatMap(({ answers }) => answers),
      isPartial: parts.some(({ isPartial }) => isPartial),
    }
  }

  async function verify(): Promise<boolean> {
    const found = await ask([{ method: 'eth_chainId', params: [] }])
    if (found !== null && chainIdOf(found.answers[0]) === BigInt(chainId ?? 0)) markHealthy()
    else if (found !== null) setAside('other-chain')
    verifying = undefined
    return verified
  }

  /** Concurrent callers share one request. */
  function verification(): Promise<boolean> {
    verifying ??= verify()
    return verifying
  }

  return {
    /** Its last answer was usable and of our chain, and it is not behind the others. */
    isHealthy: () => verified && !isBehind && retryAt <= performance.now(),
    /** Why it is set aside; null when it is not. */
    fault,
    /** When it is worth asking again, by `performance.now()`. 0 unless its last request failed. */
    retryAt: () => retryAt,
    /** Makes it state its chain id again before its next use. */
    doubt(): void {
      verified = !mustVerify
    },
    /** Whether it is known to be behind the others: it is set aside until it has caught up. */
    setBehind(now: boolean): void {
      isBehind = now
      reportFault()
    },
    /** Checks in the background whether a node that is not known to be healthy is by now. Not before `retryAt`. */
    refresh(): void {
      if (!verified && retryAt <= performance.now()) void verification()
    },
    /**
     * Null when the node failed as a whole: no answer in time, HTTP error, not JSON-RPC, each call beyond its rate,
     * another chain.
     */
    async send(calls: readonly RpcCall[], signal?: AbortSignal): Promise<BatchAnswer | null> {
      if (!verified && !(await unlessAborted(verification(), signal))) return null
      const found = await ask(calls, signal)
      // Another request may have set the node aside. Then its chain id is checked first.
      if (found?.isPartial === false && verified) markHealthy()
      return found
    },
  }
}

export type RpcNode = ReturnType<typeof createRpcNode>

/** False as soon as the caller gives up. */
function unlessAborted(wanted: Promise<boolean>, signal?: AbortSignal): Promise<boolean> {
  if (signal === undefined) return wanted
  return new Promise((resolve) => {
    const giveUp = () => resolve(false)
    if (signal.aborted) giveUp()
    signal.addEventListener('abort', giveUp, { once: true })
    void wanted.then(resolve).finally(() => signal.removeEventListener('abort', giveUp))
  })
}

function chainIdOf(answer: RpcAnswer | undefined): bigint | undefined {
  return isResult(answer) ? quantitySchema.safeParse(answer.result).data : undefined
}
