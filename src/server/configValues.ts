import { utils } from '@noble/secp256k1'
import { z } from 'zod'
import { addressSchema, ZERO_ADDRESS } from '../protocol/address.js'
import { hexOf, hexToBytes } from '../protocol/hex.js'
import { runSecretSchema } from '../protocol/runMessage.js'
import { MAX_TIMER_MS } from '../protocol/timeLimit.js'
import { parseDecimal } from '../protocol/units.js'
import { LOG_LEVELS } from '../service/logger.js'
import { Secret } from './secret.js'

// The kinds of values that the environment holds, each from text to a type. No message quotes the value: it
// may be a secret that stands under the wrong name.

const DURATION = /^(\d{1,9})(ms|s|m|h)$/
const UNIT_MS = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
])

/** Accounts that pay the gas. */
const MAX_ACCOUNTS = 64

/** An integer between two bounds, both included. */
export function integer(min: number, max: number) {
  const message = `expected an integer from ${min} to ${max}`
  return z
    .string()
    .regex(/^\d{1,16}$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, message)
}

function durationMs(text: string): number {
  const [, amount = '', unit = ''] = DURATION.exec(text) ?? []
  return Number(amount) * (UNIT_MS.get(unit) ?? Number.NaN)
}

/** `250ms`, `5s`, `2m`, `24h`; in milliseconds. `least` is a duration, too. */
export function duration(least = '1ms') {
  const examples = least === '1ms' ? 'above zero such as 250ms, 5s, 2m or 24h' : `from ${least}, such as 24h`
  const message = `expected a duration ${examples}`
  return z
    .string()
    .transform(durationMs)
    .refine((ms) => ms >= durationMs(least) && ms <= MAX_TIMER_MS, message)
}

const GWEI_DECIMALS = 9
const ETHER_DECIMALS = 18

/** A decimal number of gwei; in wei. */
export function gwei() {
  return decimal(GWEI_DECIMALS)
}

/** A decimal number of ether; in wei. */
export function ether() {
  return decimal(ETHER_DECIMALS)
}

function decimal(decimals: number) {
  return z
    .string()
    .regex(
      new RegExp(`^\\d{1,9}(\\.\\d{1,${decimals}})?$`),
      `expected a decimal number with up to ${decimals} decimal places`,
    )
    .transform((text) => parseDecimal(text, decimals))
}

/** The address of a contract or signer; checksummed. */
export function account() {
  return addressSchema.refine((address) => address !== ZERO_ADDRESS, 'expected an address other than zero')
}

/** What a server listens on. */
export function host() {
  return z.string().regex(/^[A-Za-z0-9.:_-]+$/, 'expected a host name or an IP address')
}

/** How much is logged. */
export function logLevel() {
  return z.enum(LOG_LEVELS, { error: `expected one of ${LOG_LEVELS.join(', ')}` })
}

/** What `pg` connects to; secret, as it holds a password. */
export function databaseUrl() {
  return z
    .string()
    .refine(
      (text) => URL.canParse(text) && /^postgres(?:ql)?:$/.test(new URL(text).protocol),
      'expected a URL such as postgres://user:password@host:5432/database',
    )
    .transform((text) => new Secret(text))
}

/** An absolute http(s) URL; a trailing slash is dropped. */
export function httpUrl() {
  return z
    .string()
    .refine(isHttpUrl, 'expected an http or https URL')
    .transform((text) => text.replace(/\/+$/, ''))
}

/** One or more http(s) URLs, separated by commas. */
export function httpUrls() {
  return z
    .string()
    .transform((text) => text.split(',').map((url) => url.trim()))
    .refine((urls) => urls.every(isHttpUrl), 'expected one or more http or https URLs, separated by commas')
}

/**
 * Where the other side of an enclave's runs listens: https, as who runs what when is nobody else's business, unless it is
 * this machine; without a user name, which `fetch` refuses.
 */
function runUrl() {
  return z
    .string()
    .refine(
      (text) => isHttpUrl(text) && isPrivate(new URL(text)),
      'expected an https URL without a user name; http only for this machine (127.0.0.1, [::1], localhost)',
    )
}

/** The same, or the socket of an enclave on this machine. */
export function enclaveUrl() {
  return z.union([z.string().regex(/^unix:\/.{1,106}$/), runUrl()], {
    error:
      'expected an https URL without a user name, http only for this machine (127.0.0.1, [::1], localhost), or unix: and an absolute path',
  })
}

function isPrivate({ protocol, hostname, username, password }: URL): boolean {
  const isLoopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)
  return (protocol === 'https:' || isLoopback) && username === '' && password === ''
}

/** A secret shared with the other side of an enclave's runs. */
export function runSecret() {
  return runSecretSchema.transform((text) => new Secret(text))
}

/** Exactly what a browser sends as `Origin`: scheme, host, and the port unless it is the scheme's own. */
export function origin() {
  return z
    .string()
    .refine(
      (text) => isHttpUrl(text) && new URL(text).origin === text,
      'expected one origin such as https://desk.example.com: no path, no trailing slash, no default port, lower case',
    )
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}

/** A secret of at least `minLength` visible characters. */
export function secretText(minLength: number) {
  const message =
    minLength > 1
      ? `expected at least ${minLength} characters, none of them a space`
      : 'expected text without spaces'
  return z
    .string()
    .min(minLength, message)
    .regex(/^[\x21-\x7e]+$/, message)
    .transform((text) => new Secret(text))
}

/** A secp256k1 private key as `0x` and 64 hex digits. */
export function privateKey() {
  const message = 'expected a secp256k1 private key: 0x and 64 hex digits, not zero and below the order'
  return z
    .string()
    .refine((text) => isPrivateKey(text), message)
    .transform((text) => new Secret(hexOf(32).parse(text)))
}

function isPrivateKey(text: string): boolean {
  const parsed = hexOf(32).safeParse(text)
  return parsed.success && utils.isValidSecretKey(hexToBytes(parsed.data))
}

/** Several private keys, each once. */
export function privateKeys() {
  return listOf(privateKey())
}

function listOf<T>(schema: z.ZodType<T, string>) {
  return z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .refine(
      (parts) => new Set(parts.map((part) => part.toLowerCase())).size === parts.length,
      'has a value twice',
    )
    .pipe(z.array(schema).max(MAX_ACCOUNTS, `has more than ${MAX_ACCOUNTS} values`))
}

export function kmsKeyIds() {
  return listOf(kmsKeyId())
}

/** What AWS KMS knows a key by: an id, an ARN, or an alias. */
export function kmsKeyId() {
  return z.string().regex(/^[A-Za-z0-9:/_-]{1,2048}$/, 'expected the id, ARN or alias of a key')
}

/** A program and its arguments: words separated by spaces, or a JSON array of strings when a word has spaces. */
export function command() {
  return z
    .string()
    .transform(words)
    .refine((parts) => parts.length > 0, 'expected words separated by spaces, or a JSON array of strings')
}

function words(text: string): string[] {
  if (!text.trimStart().startsWith('[')) return text.split(/\s+/).filter((word) => word !== '')
  try {
    return z.array(z.string().min(1)).parse(JSON.parse(text))
  } catch {
    return []
  }
}
