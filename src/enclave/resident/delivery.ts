import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import {
  type EnclaveBoot,
  type ProvisionalResult,
  postedResultSchema,
  provisionalResultSchema,
  runResultReceivedSchema,
} from '../../protocol/job.js'
import { signRunMessage } from '../../protocol/runMessage.js'
import { describeError, type Logger } from '../../service/logger.js'
import type { Post } from '../../service/post.js'
import { RunFailure } from '../failures.js'
import type { FinishedRun, NotedRun } from './runTable.js'

const AGAIN_MS = 250
const AGAIN_MAX_MS = 15_000
/** The server takes no result later than 30 s after `stopAt`; the rest allows for clocks that differ. */
const KEPT_AFTER_STOP_MS = 10 * 60_000

type Message = { readonly kind: 'notice' | 'result'; readonly runId: string; readonly body: string }

/** Messages to the server about runs. Each is posted until the server has it on its disk. */
export function createDelivery(options: {
  readonly post: Post
  /** Base URL of the server, which ends without a slash. */
  readonly serverUrl: string
  /** The server's port for the enclave asks for it. */
  readonly relayToken: string
  readonly secret: string
  readonly boot: EnclaveBoot
  /** Aborts when the enclave begins to stop: the next boot posts results that the server does not have. */
  readonly stopping: AbortSignal
  /** Milliseconds between two tries: doubled each time, up to the longest. */
  readonly againMs?: number
  readonly logger: Logger
}) {
  const { post, serverUrl, relayToken, secret, boot, stopping, againMs = AGAIN_MS, logger } = options

  /** The server's word on it, or undefined without one. Each attempt is signed anew, because signatures age. */
  async function attempt(message: Message): Promise<'received' | 'not-awaited' | undefined> {
    const { kind, runId, body } = message
    try {
      const headers = { authorization: `Bearer ${relayToken}`, ...signRunMessage(secret, message) }
      const { status, text } = await post(`${serverUrl}/runs/${runId}/${kind}`, headers, body)
      if (status === 200) return runResultReceivedSchema.parse(JSON.parse(text)).result
      logger.warn(`${kind} not taken`, { runId, status })
    } catch (error) {
      logger.warn('server not reached', { runId, ...describeError(error) })
    }
    return undefined
  }

  /** @param until Unix milliseconds */
  async function deliver(message: Message, until: number, signal?: AbortSignal): ReturnType<typeof attempt> {
    for (let wait = againMs; ; wait = Math.min(wait * 2, AGAIN_MAX_MS)) {
      const answer = await attempt(message)
      if (answer !== undefined || signal?.aborted || Date.now() + wait > until) return answer
      await sleep(wait, undefined, { ref: false, ...(signal && { signal }) }).catch(() => undefined)
    }
  }

  return {
    /**
     * Resolves once the server has it.
     * @throws RunFailure `out-of-time` at `stopAt`; `relay-refused` when the server does not wait for this run
     */
    async notice({ runId, stopAt }: NotedRun, provisional: ProvisionalResult): Promise<void> {
      const body = JSON.stringify(z.encode(provisionalResultSchema, provisional))
      const answer = await deliver({ kind: 'notice', runId, body }, stopAt * 1_000)
      if (answer !== 'received') throw new RunFailure(answer === undefined ? 'out-of-time' : 'relay-refused')
    },
    /** Resolves with false when the enclave stops before the server has answered. Never rejects. */
    async result({ runId, stopAt, result }: FinishedRun): Promise<boolean> {
      const body = JSON.stringify(z.encode(postedResultSchema, { ...result, enclave: boot }))
      const until = stopAt * 1_000 + KEPT_AFTER_STOP_MS
      const answer = await deliver({ kind: 'result', runId, body }, until, stopping)
      if (answer === undefined && !stopping.aborted) logger.error('result given up', { runId })
      return answer !== undefined || !stopping.aborted
    },
  }
}

export type Delivery = ReturnType<typeof createDelivery>
