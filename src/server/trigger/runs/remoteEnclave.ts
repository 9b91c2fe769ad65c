import type { Job, RemoteJob } from '../../../protocol/job.js'
import { signRunMessage } from '../../../protocol/runMessage.js'
import type { Secret } from '../../secret.js'

/**
 * What became of a job that was offered.
 * - `accepted`: the host runs it, or has run it
 * - `refused`: it does not, and never will because of this request
 * - `unknown`: no answer that says so; it may run
 */
export type Offer =
  | { readonly kind: 'accepted' }
  | {
      readonly kind: 'refused'
      /** The HTTP status; null when nobody listens there. */
      readonly status: number | null
      /** The host wants no further job for so long, in milliseconds. */
      readonly retryAfterMs?: number
    }
  | { readonly kind: 'unknown'; readonly status: number | null }

/** The host of an enclave somewhere else. It may be offered the same job twice: it runs it once, by its `runId`. */
export interface RemoteEnclave {
  /** Never rejects. */
  offer(job: Job): Promise<Offer>
}

/** A host only notes the job before it answers. */
const TIMEOUT_MS = 10_000
/** However long a host wants to be left alone. */
const MAX_RETRY_AFTER_MS = 15 * 60_000

/** @param options.url what jobs are posted to, as it is; secret, as a hosted runtime's may hold a key */
export function createRemoteEnclave(options: {
  readonly url: Secret
  readonly secret: Secret
}): RemoteEnclave {
  return {
    async offer(job) {
      const body = JSON.stringify(withoutPlace(job))
      const headers = signRunMessage(options.secret.reveal(), { kind: 'job', runId: job.runId, body })
      try {
        const response = await fetch(options.url.reveal(), {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body,
          // Elsewhere the job was not meant to go.
          redirect: 'manual',
          signal: AbortSignal.timeout(TIMEOUT_MS),
        })
        await response.body?.cancel()
        return offerOf(response)
      } catch (error) {
        return { kind: hasNotConnected(error) ? 'refused' : 'unknown', status: null }
      }
    },
  }
}

/** The result's path is this machine's. */
function withoutPlace({ resultFile: _resultFile, ...job }: Job): RemoteJob {
  return job
}

/** A gateway may answer 5xx, and 408, for a host that has got the request all the same. */
function offerOf({ ok, status, headers }: Response): Offer {
  if (ok) return { kind: 'accepted' }
  if (status >= 500 || status === 408) return { kind: 'unknown', status }
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  if (status !== 429 || !(seconds >= 0)) return { kind: 'refused', status }
  return { kind: 'refused', status, retryAfterMs: Math.min(seconds * 1_000, MAX_RETRY_AFTER_MS) }
}

/** Failures before a connection was there, so that nothing can have been sent. */
const NOT_CONNECTED: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'UND_ERR_CONNECT_TIMEOUT',
])

function hasNotConnected(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && NOT_CONNECTED.has(cause.code)
}
