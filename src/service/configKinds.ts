import { utils } from '@noble/secp256k1'
import * as z from 'zod'
import { addressSchema, ZERO_ADDRESS } from '../protocol/address.js'
import { hexOf, hexToBytes } from '../protocol/hex.js'
import { secureUrlSchema } from '../protocol/secureUrl.js'
import { MAX_TIMER_MS } from '../protocol/timeLimit.js'
import type { Kind } from './config.js'
import { LOG_LEVELS } from './logger.js'

// The kinds of values that every program's environment has. No message quotes the value.

const DURATION = /^(\d{1,9})(ms|s|m|h)$/
const UNIT_MS = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
])

function durationMs(text: string): number {
  const [, amount = '', unit = ''] = DURATION.exec(text) ?? []
  return Number(amount) * (UNIT_MS.get(unit) ?? Number.NaN)
}

/** `250ms`, `5s`, `2m`, `24h`; in milliseconds. The bounds, both included, are durations too. */
export function duration({ min, max }: { readonly min?: string; readonly max?: string } = {}) {
  const least = min === undefined ? ' above zero' : ` from ${min}`
  const most = max === undefined ? '' : ` up to ${max}`
  const [minMs, maxMs] = [durationMs(min ?? '1ms'), max === undefined ? MAX_TIMER_MS : durationMs(max)]
  return z
    .string()
    .transform(durationMs)
    .refine(
      (ms) => ms >= minMs && ms <= maxMs,
      `expected a duration${least}${most}, such as 250ms, 5s, 2m or 24h`,
    )
}

/** An integer between two bounds, both included. */
export function integer(min: number, max: number) {
  const message = `expected an integer from ${min} to ${max}`
  return z
    .string()
    .regex(/^\d{1,16}$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, message)
}

/** The address of a contract or signer; checksummed. */
export function account() {
  return addressSchema.check(
    z.refine((address) => address !== ZERO_ADDRESS, 'expected an address other than zero'),
  )
}

/** A secp256k1 private key as `0x` and 64 hex digits. */
export function privateKey() {
  return z
    .string()
    .refine(
      isPrivateKey,
      'expected a secp256k1 private key: 0x and 64 hex digits, not zero and below the order',
    )
    .transform((text) => hexOf(32).parse(text))
}

function isPrivateKey(text: string): boolean {
  const parsed = hexOf(32).safeParse(text)
  return parsed.success && utils.isValidSecretKey(hexToBytes(parsed.data))
}

/** At least `minLength` visible ASCII characters. */
export function visibleText(minLength = 1) {
  const message =
    minLength > 1
      ? `expected at least ${minLength} characters, none of them a space`
      : 'expected text without spaces'
  return z
    .string()
    .min(minLength, message)
    .regex(/^[\x21-\x7e]+$/, message)
}

/** An https URL, or an http URL of this machine. */
export function secureUrl() {
  return secureUrlSchema
}

/** Such a URL that paths are appended to: a trailing slash is dropped. */
export function baseUrl() {
  return z.pipe(
    secureUrlSchema,
    z.transform((text) => text.replace(/\/+$/, '')),
  )
}

/** Values of a kind, separated by commas; none in an empty text. */
export function listOf<T>(kind: Kind<T>, separator = ',') {
  return z
    .string()
    .transform((text) => (text === '' ? [] : text.split(separator).map((part) => part.trim())))
    .pipe(z.array(kind))
}

/** How much is logged. */
export function logLevel() {
  return z.enum(LOG_LEVELS, { error: `expected one of ${LOG_LEVELS.join(', ')}` })
}
