import { jobAcceptedSchema } from '../../../protocol/api.js'
import { type EnclaveBoot, enclaveBootSchema, type Job, type RemoteJob } from '../../../protocol/job.js'
import { signRunMessage } from '../../../protocol/runMessage.js'
import { createPost, hasNotConnected, type PostAnswer } from '../../../service/post.js'
import type { Secret } from '../../secret.js'

/**
 * What became of a job that was offered.
 * - `accepted`: the enclave runs it, or has run it
 * - `refused`: it does not, and never will because of this request
 * - `absent`: no enclave listens there, so none has got it
 * - `unknown`: no answer that says so; it may run
 */
export type Offer =
  | {
      readonly kind: 'accepted'
      /** Absent where the program in front of the enclave does not say. */
      readonly enclave: EnclaveBoot | undefined
    }
  | {
      readonly kind: 'refused'
      readonly status: number
      /** The enclave wants no further job for so long, in milliseconds. */
      readonly retryAfterMs?: number
    }
  | { readonly kind: 'absent' | 'unknown'; readonly status: number | null }

/** An enclave that stays up. It may be offered the same job twice: it runs it once, by its `runId`. */
export interface RemoteEnclave {
  /** Never rejects. */
  offer(job: Job): Promise<Offer>
}

/** An enclave only notes the job before it answers. */
const TIMEOUT_MS = 10_000
/** Noting is quick: more at once would only wait there. */
const MAX_CONNECTIONS = 32
/** However long an enclave wants to be left alone. */
const MAX_RETRY_AFTER_MS = 15 * 60_000

/** @param options.url what jobs are posted to, as it is; secret, because a hosted runtime's URL may hold a key */
export function createRemoteEnclave(options: {
  readonly url: Secret
  readonly secret: Secret
}): RemoteEnclave {
  const post = createPost({ timeoutMs: TIMEOUT_MS, maxConnections: MAX_CONNECTIONS })
  return {
    async offer(job) {
      const body = JSON.stringify(withoutPlace(job))
      const headers = signRunMessage(options.secret.reveal(), { kind: 'job', runId: job.runId, body })
      try {
        return offerOf(await post(options.url.reveal(), { ...headers }, body))
      } catch (error) {
        return { kind: hasNotConnected(error) ? 'absent' : 'unknown', status: null }
      }
    },
  }
}

/** The result's path is this machine's. */
function withoutPlace({ resultFile: _resultFile, ...job }: Job): RemoteJob {
  return job
}

/** A gateway may answer 5xx, and 408, for an enclave that has got the request all the same. */
function offerOf({ status, headers, text }: PostAnswer): Offer {
  if (status >= 200 && status < 300) return { kind: 'accepted', enclave: bootIn(text) }
  if (status >= 500 || status === 408) return { kind: 'unknown', status }
  const seconds = Number(headers['retry-after'] ?? Number.NaN)
  if (status !== 429 || !(seconds >= 0)) return { kind: 'refused', status }
  return { kind: 'refused', status, retryAfterMs: Math.min(seconds * 1_000, MAX_RETRY_AFTER_MS) }
}

/** The boot that took the job. Where it was taken already, that may have been the boot before the one that answers. */
function bootIn(text: string): EnclaveBoot | undefined {
  try {
    const { instance, boot = 0, result } = jobAcceptedSchema.parse(JSON.parse(text))
    const taker = result === 'accepted' ? boot : Math.max(1, boot - 1)
    return enclaveBootSchema.safeParse({ instance, boot: taker }).data
  } catch {
    return undefined
  }
}
