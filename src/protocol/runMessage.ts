// The signature of what the server and an enclave that stays up send each other: Standard Webhooks 1.0.0
// (https://www.standardwebhooks.com), HMAC-SHA-256 over `id.timestamp.body`.
import { Webhook, WebhookVerificationError } from 'standardwebhooks'
import * as z from 'zod'
import { runIdSchema } from './job.js'

/** A job goes to the enclave, notices and a result come back. The id names the kind, so that none passes for another. */
export type RunMessageKind = 'job' | 'notice' | 'result'

/** How old a message may be, in seconds: Standard Webhooks' own tolerance. */
export const MAX_AGE_SECONDS = 300
/**
 * How far ahead of the receiver's clock a message may be, in seconds. An enclave whose clock is behind the server's would
 * work after `stopAt`: the most that it may be behind is far below the 30 s that the server waits then.
 */
const MAX_AHEAD_SECONDS: Readonly<Record<RunMessageKind, number>> = {
  job: 5,
  notice: MAX_AGE_SECONDS,
  result: MAX_AGE_SECONDS,
}

/** Bytes of a secret, as Standard Webhooks has them. */
const MIN_SECRET_BYTES = 24
const MAX_SECRET_BYTES = 64

/** `whsec_` and the Base64 of 24 to 64 random bytes. */
export const runSecretSchema = z
  .string()
  .refine(isSecret, `expected whsec_ and the Base64 of ${MIN_SECRET_BYTES} to ${MAX_SECRET_BYTES} bytes`)

function isSecret(text: string): boolean {
  const [, base64 = ''] =
    /^whsec_((?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/.exec(text) ?? []
  const { length } = atob(base64)
  return length >= MIN_SECRET_BYTES && length <= MAX_SECRET_BYTES
}

/** The header fields that carry a signature. */
export type RunMessageHeaders = {
  readonly 'webhook-id': string
  /** Unix seconds. */
  readonly 'webhook-timestamp': string
  readonly 'webhook-signature': string
}

/** @param body the exact text that is sent; signed anew for each attempt, as the signature ages */
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

/** A signature whose body is still to come. */
export interface ClaimedRunMessage {
  readonly runId: string
  readonly headers: RunMessageHeaders
}

const TIMESTAMP = /^[1-9]\d{0,11}$/

/**
 * What a request claims to be, before its body is read; undefined when it carries no signature for this kind, or one
 * that is not fresh.
 */
export function claimedRunMessage(
  kind: RunMessageKind,
  fields: Readonly<Record<string, unknown>>,
): ClaimedRunMessage | undefined {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = fields
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signature !== 'string')
    return undefined
  const runId = id.startsWith(`${kind}_`) ? id.slice(kind.length + 1) : ''
  // As it was made: another spelling would be another id.
  if (runIdSchema.safeParse(runId).data !== runId || !TIMESTAMP.test(timestamp)) return undefined
  const age = Math.floor(Date.now() / 1_000) - Number(timestamp)
  if (age > MAX_AGE_SECONDS || -age > MAX_AHEAD_SECONDS[kind]) return undefined
  return {
    runId,
    headers: { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature },
  }
}

/** Whether the body is the one that was signed with this secret, compared in constant time. */
export function isRunMessageSigned(secret: string, { headers }: ClaimedRunMessage, body: string): boolean {
  try {
    new Webhook(secret).verify(body, { ...headers }, { jsonParse: false })
    return true
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false
    throw error
  }
}
