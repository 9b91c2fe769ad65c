import * as z from 'zod'
import { isLoopback, isSecureUrl } from '../../protocol/secureUrl.js'
import { parseDecimal } from '../../protocol/units.js'
import type { Kind } from '../../service/config.js'
import { listOf, privateKey, visibleText } from '../../service/configKinds.js'
import { Secret } from '../../service/secret.js'

// The kinds of values that only the server's environment has. No message quotes the value.

export function secret<T>(kind: Kind<T>) {
  return z.pipe(
    kind,
    z.transform((value: T) => new Secret(value)),
  )
}

/** A secret of at least `minLength` visible characters. */
export function secretText(minLength = 1) {
  return secret(visibleText(minLength))
}

export function relayerKey() {
  return secret(oneOf(privateKey()))
}

/** A list of accounts was accepted once. */
function oneOf<T>(kind: Kind<T>) {
  return z
    .string()
    .refine(
      (text) => !text.includes(','),
      'names several accounts: the relayer has one, so name its key alone',
    )
    .pipe(kind)
}

/** The name of a key in AWS KMS: an id, an ARN, or an alias. */
export function kmsKeyId() {
  return oneOf(z.string().regex(/^[A-Za-z0-9:/_-]{1,2048}$/, 'expected the id, ARN or alias of a key'))
}

/** A decimal number of what has so many decimals; in its smallest unit. */
export function decimal(decimals: number) {
  return z
    .string()
    .regex(
      new RegExp(`^\\d{1,9}(\\.\\d{1,${decimals}})?$`),
      `expected a decimal number with up to ${decimals} decimal places`,
    )
    .transform((text) => parseDecimal(text, decimals))
}

export function host() {
  return z.string().regex(/^[A-Za-z0-9.:_-]+$/, 'expected a host name or an IP address')
}

/** The URL that `pg` connects to; secret because it has a password. A database on another machine needs TLS. */
export function databaseUrl() {
  return secret(
    z
      .string()
      .refine(
        (text) => URL.canParse(text) && /^postgres(?:ql)?:$/.test(new URL(text).protocol),
        'expected a URL such as postgres://user:password@host:5432/database',
      )
      .refine(
        (text) => URL.canParse(text) && isPrivateConnection(new URL(text)),
        'expected sslmode=verify-full, unless the database is on this machine',
      ),
  )
}

/** Whether a database is on this machine. `pg` lets the parameters win over the rest of the URL. A host that is a path is a socket. */
export function isLocalDatabase({ hostname, searchParams }: URL): boolean {
  const host = searchParams.getAll('host').at(-1) ?? hostname
  return /^(?:\/|%2F)/i.test(host) || isLoopback(host)
}

const isPrivateConnection = (url: URL) =>
  url.searchParams.getAll('sslmode').at(-1) === 'verify-full' || isLocalDatabase(url)

/**
 * The URL at which an enclave accepts jobs: https, because jobs show who trades when; http or a socket only on this machine. `fetch` refuses a
 * user name. During an upgrade there are two: the enclave's and the next one's.
 */
export function enclaveUrls() {
  const url = z
    .string()
    .refine(
      (text) => /^unix:\/.{1,106}$/.test(text) || (isSecureUrl(text) && isAnonymous(new URL(text))),
      'expected an https URL without a user name, http only for this machine (127.0.0.1, [::1], localhost), or unix: and an absolute path',
    )
  return listOf(url).refine((urls) => urls.length <= 2, 'expected two URLs at most, separated by a comma')
}

function isAnonymous({ username, password }: URL): boolean {
  return username === '' && password === ''
}

/**
 * Exactly what a browser sends as `Origin`: scheme, host, and the port unless it is the scheme's own. Browsers encrypt on secure
 * pages alone.
 */
export function origin() {
  return z
    .string()
    .refine(
      (text) => isSecureUrl(text) && new URL(text).origin === text,
      'expected one origin such as https://desk.example.com (http for localhost alone): no path, no trailing slash, no default port, lower case',
    )
}
