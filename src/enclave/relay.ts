import * as z from 'zod'
import { problemSchema, type Revert } from '../protocol/api.js'
import { type SignedAuthorization, signedAuthorizationSchema } from '../protocol/authorization.js'
import { ZERO_BYTES32 } from '../protocol/hex.js'
import { REFUSED_BY_NODES, receiptSchema } from '../protocol/relayReceipt.js'
import { createPost, type PostAnswer } from '../service/post.js'
import { createTimedValue } from '../service/waiting.js'
import { RunFailure } from './failures.js'

/**
 * The relay's answer. It is not trusted: an effect counts only once the chain shows it.
 * - `taken`: confirmed or under way
 * - `reverted`: refused before gas was spent, or failed on chain
 * - `postponed`: there is no gas for it today, and may be after so many seconds
 * - `refused`: the token or the request was not accepted, or no node takes the transaction
 * - `unavailable`: no usable answer; the authorization may have been taken all the same
 */
export type RelayAnswer =
  | { kind: 'taken' }
  | { kind: 'reverted'; revert: Revert }
  | { kind: 'postponed'; code: z.output<typeof noGasSchema>['code']; seconds: number }
  | { kind: 'refused' }
  | { kind: 'unavailable' }

interface RelayOptions {
  /** Base URL of the server. */
  url: string
  token: string
  /** The relay waits for the block before it answers. */
  timeoutMs: number
}

/** Each waits for its block. As many as the relay has under way by default. */
const MAX_CONNECTIONS = 64

/** Runs that begin together share an answer. */
const LOOK_MAX_AGE_MS = 1_000
const UNAUTHORIZED = 401
const NOT_FOUND = 404

/** Codes of the relay's problems that end when its day does. */
const noGasSchema = z.looseObject({
  code: z.enum(['relay-quota-exhausted', 'relay-budget-exhausted']),
})

const HOUR_S = 3_600
/** `Retry-After`. No day is longer; what is no such number is an hour. */
const secondsSchema = z
  .string()
  .regex(/^\d{1,5}$/)
  .transform((text) => Math.min(Number(text), 24 * HOUR_S))
  .catch(HOUR_S)

/**
 * Asks for a receipt that does not exist: the relay says so only to a caller with the token, and only while it can read its
 * records.
 * @returns `ready`, `unauthorized`, the status of any other answer, or null without one
 */
export async function lookAtRelay({ url, token, timeoutMs }: RelayOptions) {
  try {
    const { status } = await fetch(`${targetOf(url)}/${ZERO_BYTES32}`, {
      headers: { authorization: `Bearer ${token}` },
      // Following one would hand the token to another host.
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    if (status === NOT_FOUND) return 'ready'
    return status === UNAUTHORIZED ? 'unauthorized' : status
  } catch {
    return null
  }
}

function targetOf(url: string): string {
  return `${url.replace(/\/+$/, '')}/relay`
}

/** A client of `POST /relay`, which may be asked the same thing twice. */
export function createRelay(options: RelayOptions) {
  const { url, token, timeoutMs } = options
  const target = targetOf(url)
  const look = createTimedValue(LOOK_MAX_AGE_MS, async () => {
    const found = await lookAtRelay(options)
    if (found === 'unauthorized') throw new RunFailure('relay-refused')
    if (found !== 'ready') throw new RunFailure('relay-unavailable')
  })
  const send = createPost({ timeoutMs, maxConnections: MAX_CONNECTIONS })
  return {
    async post(authorization: SignedAuthorization): Promise<RelayAnswer> {
      const body = JSON.stringify(z.encode(signedAuthorizationSchema, authorization))
      try {
        return read(await send(target, { authorization: `Bearer ${token}` }, body))
      } catch {
        return { kind: 'unavailable' }
      }
    },
    /**
     * Asks whether the relay answers, once a second at most for all runs.
     * @throws RunFailure `relay-unavailable`; `relay-refused` when it does not take the token
     */
    assertReachable: look,
  }
}

/** Relays authorizations to the chain and pays their gas. */
export type Relay = ReturnType<typeof createRelay>

function read({ status, headers, text }: PostAnswer): RelayAnswer {
  if (status === 200 || status === 202) {
    const { status: progress, error } = receiptSchema.parse(JSON.parse(text))
    if (progress !== 'failed') return { kind: 'taken' }
    if (error?.name === REFUSED_BY_NODES) return { kind: 'refused' }
    return { kind: 'reverted', revert: error ?? { name: 'unknown', args: {} } }
  }
  if (status === 422) {
    const { revert } = problemSchema.parse(JSON.parse(text))
    return revert ? { kind: 'reverted', revert } : { kind: 'refused' }
  }
  const noGas = status === 429 || status === 503 ? noGasSchema.safeParse(JSON.parse(text)).data : undefined
  if (noGas)
    return { kind: 'postponed', code: noGas.code, seconds: secondsSchema.parse(headers['retry-after']) }
  // Too busy, asleep or down: the same request may be taken later.
  if (status === 408 || status === 429 || status >= 500) return { kind: 'unavailable' }
  return { kind: 'refused' }
}
