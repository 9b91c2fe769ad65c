import { z } from 'zod'
import { isFinal, type Receipt, receiptSchema } from '../../protocol/api.js'
import { signedAuthorizationSchema } from '../../protocol/authorization.js'
import { bytes32Schema } from '../../protocol/hex.js'
import { requireRelayToken } from '../http/auth.js'
import { parseBody, parseParam } from '../http/body.js'
import { Problem } from '../http/errors.js'
import { type Route, read } from '../http/routes.js'
import { type AuthorizationVerifier, RelayRefusal } from './authorization.js'
import type { Followed, RelayDispatcher } from './dispatcher.js'

export interface RelayRouterDeps {
  readonly authToken: string
  readonly verifier: AuthorizationVerifier
  readonly relay: Pick<RelayDispatcher, 'post' | 'find'>
  /** The longest that a caller waits for its receipt. */
  readonly waitMs: number
  /** Aborts when the server begins to stop: every wait ends then. */
  readonly stopping: AbortSignal
}

/**
 * Room for the largest authorization, with two blobs of 20,480 bytes in hex. It is a constant: an account whose write did not fit
 * could never trade again, and only callers with the token get this far.
 */
const BODY_LIMIT_BYTES = 128 * 1_024

/** The enclave-facing routes under /relay. The token is checked first, before the body is read. */
export function relayRoutes(deps: RelayRouterDeps): Route[] {
  const { verifier, relay, waitMs } = deps
  const wait = createWaitingRoom(deps.stopping)
  const check = requireRelayToken(deps.authToken)
  return [
    {
      method: 'POST',
      path: '/relay',
      check,
      bodyLimitBytes: BODY_LIMIT_BYTES,
      async answer(body, _client, headers) {
        const startedAt = performance.now()
        const authorization = parseBody(signedAuthorizationSchema, body)
        const job = await withRelayProblems(() => relay.post(verifier.verify(authorization)))
        const waitedMs = performance.now() - startedAt
        const receipt = await wait(job, waitPreference(headers.prefer, waitMs) - waitedMs)
        return {
          status: isFinal(receipt) ? 200 : 202,
          location: `/relay/${receipt.digest}`,
          body: z.encode(receiptSchema, receipt),
        }
      },
    },
    {
      ...read('/relay/:digest', receiptSchema, async (digest) => {
        const receipt = await relay.find(parseParam(bytes32Schema, 'digest', digest))
        if (receipt === undefined) throw new Problem('receipt-not-found')
        return receipt
      }),
      check,
    },
  ]
}

/**
 * Waits for a job's end, for `waitMs` at most, and not beyond the server's stop. Resolves with the receipt so far, and immediately
 * when the checks have used up the caller's time.
 */
type Wait = (job: Followed, waitMs: number) => Promise<Receipt>

/**
 * One listener to the stop serves all callers that wait: removing one of many listeners searches through all of them.
 *
 * @param stopping aborts when the server begins to stop
 */
function createWaitingRoom(stopping: AbortSignal): Wait {
  const waiting = new Set<() => void>()
  stopping.addEventListener('abort', () => {
    for (const leave of waiting) leave()
  })
  return async (job, waitMs) => {
    if (stopping.aborted || waitMs <= 0) return job.current()
    await new Promise<void>((resolve) => {
      const leave = () => {
        clearTimeout(timer)
        waiting.delete(leave)
        resolve()
      }
      const timer = setTimeout(leave, waitMs)
      waiting.add(leave)
      void job.end.then(leave)
    })
    return job.current()
  }
}

/** No caller waits for more than six digits of seconds. */
const WAIT = /^wait *= *(\d{1,6})$/i

/**
 * The longest wait that the caller wants: `Prefer: wait=<seconds>` (RFC 7240 §4.3); the server's own limit without one, or
 * where it is longer. Other preferences are ignored, as the RFC asks.
 *
 * @returns milliseconds
 */
export function waitPreference(header: string | string[] | undefined, limitMs: number): number {
  for (const preference of String(header ?? '').split(',')) {
    const seconds = WAIT.exec(preference.trim())?.[1]
    // The first of several counts (RFC 7240 §2).
    if (seconds !== undefined) return Math.min(Number(seconds) * 1_000, limitMs)
  }
  return limitMs
}

/** Runs an action of the relay. A refusal becomes a problem. */
export async function withRelayProblems<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action()
  } catch (error) {
    throw error instanceof RelayRefusal ? problemOf(error) : error
  }
}

function problemOf({ reason, cause }: RelayRefusal): Problem {
  return new Problem(reason.code, {
    cause,
    ...('retryAfterMs' in reason && {
      headers: { 'Retry-After': String(Math.ceil(reason.retryAfterMs / 1_000)) },
    }),
    extensions: {
      ...('revert' in reason && { revert: reason.revert }),
      ...('quota' in reason && { quota: reason.quota }),
    },
  })
}
