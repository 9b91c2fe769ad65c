// Signs the messages between the server and a resident enclave: Standard Webhooks 1.0.0
// (https://www.standardwebhooks.com), HMAC-SHA-256 over `id.timestamp.body`.
import { Webhook, WebhookVerificationError } from 'standardwebhooks'
import * as z from 'zod/mini'
import { runIdSchema } from './job.js'

/**
 * The server sends jobs and challenges, operators ask for reports; the enclave sends notices and results. The id contains the kind, so one
 * kind cannot pass for another. A challenge and a report are about no run: their ids are random. A challenge's body is the nonce in hex.
 */
export type RunMessageKind = 'job' | 'challenge' | 'report' | 'notice' | 'result'

/** The maximum age of a message in seconds: Standard Webhooks' own tolerance. */
const MAX_AGE_SECONDS = 300
/**
 * How far a message's time may be ahead of the receiver's clock, in seconds. An enclave with a slow clock would work
 * past `stopAt`. Its maximum lag is far below the 30 s grace that the server adds.
 */
const MAX_AHEAD_SECONDS: Readonly<Record<RunMessageKind, number>> = {
  job: 5,
  challenge: 5,
  report: 5,
  notice: MAX_AGE_SECONDS,
  result: MAX_AGE_SECONDS,
}

/** The length of a secret in bytes, as Standard Webhooks defines it. */
const MIN_SECRET_BYTES = 24
const MAX_SECRET_BYTES = 64

/** `whsec_` and the Base64 of 24 to 64 random bytes. */
export const runSecretSchema = z
  .string()
  .check(
    z.refine(isSecret, `expected whsec_ and the Base64 of ${MIN_SECRET_BYTES} to ${MAX_SECRET_BYTES} bytes`),
  )

function isSecret(text: string): boolean {
  const [, base64 = ''] =
    /^whsec_((?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/.exec(text) ?? []
  const { length } = atob(base64)
  return length >= MIN_SECRET_BYTES && length <= MAX_SECRET_BYTES
}

/** The header fields of a signature. */
type RunMessageHeaders = {
  readonly 'webhook-id': string
  /** Unix seconds. */
  readonly 'webhook-timestamp': string
  readonly 'webhook-signature': string
}

/** @param body the exact text to send. Sign anew for each attempt, because signatures expire. */
export function signRunMessage(
  secret: string,
  message: { readonly kind: RunMessageKind; readonly runId: string; readonly body: string },
  now = new Date(),
): RunMessageHeaders {
  const id = `${message.kind}_${message.runId}`
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign(id, now, message.body),
  }
}

/** A signature whose body has not arrived yet. */
interface ClaimedRunMessage {
  readonly runId: string
  readonly headers: RunMessageHeaders
}

const TIMESTAMP = /^[1-9]\d{0,11}$/

/**
 * The claim in a request's headers, read before its body. Undefined if the headers have no fresh signature for this
 * kind.
 */
export function claimedRunMessage(
  kind: RunMessageKind,
  fields: Readonly<Record<string, unknown>>,
): ClaimedRunMessage | undefined {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = fields
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signature !== 'string')
    return undefined
  const runId = id.startsWith(`${kind}_`) ? id.slice(kind.length + 1) : ''
  // Compares the exact spelling, because another spelling would be another id.
  if (runIdSchema.safeParse(runId).data !== runId || !TIMESTAMP.test(timestamp)) return undefined
  const age = Math.floor(Date.now() / 1_000) - Number(timestamp)
  if (age > MAX_AGE_SECONDS || -age > MAX_AHEAD_SECONDS[kind]) return undefined
  return {
    runId,
    headers: { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature },
  }
}

/** Whether this secret signed the body; compares in constant time. */
export function isRunMessageSigned(secret: string, { headers }: ClaimedRunMessage, body: string): boolean {
  try {
    new Webhook(secret).verify(body, { ...headers }, { jsonParse: false })
    return true
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false
    throw error
  }
}
