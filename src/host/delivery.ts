import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { type RunResult, runResultSchema } from '../protocol/job.js'
import { signRunMessage } from '../protocol/runMessage.js'
import type { Secret } from '../server/secret.js'
import { describeError, type Logger } from '../service/logger.js'

/** A result on its way to the server. */
export interface Delivery {
  /** Posts it until the server has taken it, or nobody waits for it any more. Never rejects. */
  deliver(run: { readonly runId: string; readonly stopAt: number; readonly result: RunResult }): Promise<void>
}

interface DeliveryOptions {
  /** Base URL of the server. */
  readonly serverUrl: string
  readonly secret: Secret
  /** Aborts when the host begins to stop: the next one goes on. */
  readonly stopping: AbortSignal
  /** Milliseconds between two tries: doubled each time, up to the longest. */
  readonly againMs?: number
  readonly logger: Logger
}

const TIMEOUT_MS = 10_000
const AGAIN_MS = 500
const AGAIN_MAX_MS = 15_000
/** A server takes no result later than 30 s after `stopAt`; the rest allows for clocks that differ. */
export const KEPT_AFTER_STOP_MS = 10 * 60_000

export function createDelivery(options: DeliveryOptions): Delivery {
  const { serverUrl, secret, stopping, againMs = AGAIN_MS, logger } = options
  const base = serverUrl.replace(/\/+$/, '')

  /** The answer's status; the request is signed anew each time, as signatures age. */
  async function post(runId: string, body: string): Promise<number> {
    const response = await fetch(`${base}/runs/${runId}/result`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...signRunMessage(secret.reveal(), { kind: 'result', runId, body }),
      },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    await response.body?.cancel()
    return response.status
  }

  return {
    async deliver({ runId, stopAt, result }) {
      const body = JSON.stringify(z.encode(runResultSchema, result))
      for (let wait = againMs; !stopping.aborted; wait = Math.min(wait * 2, AGAIN_MAX_MS)) {
        try {
          const status = await post(runId, body)
          if (status === 200) return
          logger.warn('result not taken', { runId, status })
        } catch (error) {
          logger.warn('server not reached', { runId, ...describeError(error) })
        }
        if (Date.now() + wait > stopAt * 1_000 + KEPT_AFTER_STOP_MS) break
        await sleep(wait, undefined, { ref: false })
      }
      if (!stopping.aborted) logger.error('result given up', { runId })
    },
  }
}
