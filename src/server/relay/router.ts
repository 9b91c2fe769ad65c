import { setMaxListeners } from 'node:events'
import * as z from 'zod'
import { signedAuthorizationSchema } from '../../protocol/authorization.js'
import { bytes32Schema } from '../../protocol/hex.js'
import { isFinal, receiptSchema } from '../../protocol/relayReceipt.js'
import { untilAborted, withTimeout } from '../../service/waiting.js'
import { requireRelayToken } from '../http/auth.js'
import { parseBody, parseParam } from '../http/body.js'
import { Problem } from '../http/errors.js'
import { type Route, read } from '../http/routes.js'
import { type createAuthorizationVerifier, RelayRefusal } from './authorization.js'
import type { RelayDispatcher } from './dispatcher.js'

/**
 * Room for the largest authorizations, in hex: two blobs of 20,480 bytes, or a rulebook's part of 65,600. It is a constant: an account
 * whose write did not fit could never trade again, and only callers with the token get this far.
 */
const BODY_LIMIT_BYTES = 192 * 1_024

/** The enclave-facing routes under /relay. The token is checked first, before the body is read. */
export function relayRoutes(deps: {
  readonly authToken: string
  readonly verify: ReturnType<typeof createAuthorizationVerifier>
  readonly relay: Pick<RelayDispatcher, 'post' | 'find'>
  readonly waitMs: number
  readonly stopping: AbortSignal
}): Route[] {
  const { verify, relay, waitMs, stopping } = deps
  const check = requireRelayToken(deps.authToken)
  // Every caller that waits listens to it.
  setMaxListeners(0, stopping)
  return [
    {
      method: 'POST',
      path: '/relay',
      check,
      bodyLimitBytes: BODY_LIMIT_BYTES,
      async answer(body, _client, headers) {
        const startedAt = performance.now()
        const authorization = parseBody(signedAuthorizationSchema, body)
        const job = await withRelayProblems(async () => relay.post(await verify(authorization)))
        const remainingMs = waitPreference(headers.prefer, waitMs) - (performance.now() - startedAt)
        if (remainingMs > 0) await untilAborted(withTimeout(job.end, remainingMs), stopping)
        const receipt = job.current()
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
    if (!(error instanceof RelayRefusal)) throw error
    const { code, retryAfterMs, ...extensions } = { retryAfterMs: undefined, ...error.reason }
    const headers =
      retryAfterMs === undefined ? {} : { 'Retry-After': String(Math.ceil(retryAfterMs / 1_000)) }
    throw new Problem(code, { headers, extensions })
  }
}
