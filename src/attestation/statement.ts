import type { Hex } from '../protocol/hex.js'
import { sha256 } from './bytes.js'
import { demand } from './errors.js'

/** What every enclave says of itself. The SHA-256 of its text is the user data of the evidence, on every kind of machine. */
export interface CommonStatement {
  readonly v: 1
  readonly origin: string
  readonly signer?: Hex | undefined
  readonly chainId: number
  /** Addresses of the contracts `Authority` and `OrderEscrow`. */
  readonly authority: Hex
  readonly escrow: Hex
  /** The compressed public key to seal to, and the scheme. */
  readonly sealKey: Hex
  readonly scheme: string
  /** The settings that decide about money or secrecy, by name: see `configurationOf`. */
  readonly configuration: Readonly<Record<string, string>>
  /** The version, and the SHA-256 of the bundle as `--hash` prints it. */
  readonly build: { readonly version: string; readonly digest: string }
  /** The state directory (a UUID), and the count of its starts. */
  readonly instance: string
  readonly boot: number
}

/** An enclave that has its keys: clients seal to `sealKey`. */
export interface Statement extends CommonStatement {
  /** The signing key and the key to seal to were made inside the program, which shows them to nobody. */
  readonly origin: 'born'
  /** The address whose signature authorizes, which the chain has as `enclaveSigner()`. */
  readonly signer: Hex
}

/** The one text of each statement of a kind. */
export interface StatementForm<S extends CommonStatement> extends RegExp {
  readonly kind?: S
}

const ADDRESS = '"0x[0-9a-fA-F]{40}"'
export const PUBLIC_KEY = '"0x0[23][0-9a-f]{64}"'
const NATURAL = '[1-9]\\d{0,15}'
/** Printable ASCII that JSON writes as it is: nothing of it steers a terminal or looks like something else. */
const TEXT = '"[ !#-[\\]-~]*"'

/** @param keys the members from `sealKey` on, without `v` */
export function formOf<S extends CommonStatement>(origin: S['origin'], keys: string): StatementForm<S> {
  return new RegExp(
    `^{"authority":${ADDRESS},"boot":${NATURAL},"build":{"digest":"[0-9a-f]{64}","version":${TEXT}},` +
      `"chainId":${NATURAL},"configuration":({(?:"[A-Z_]+":${TEXT}(?!,}|"),?)+}),"escrow":${ADDRESS},` +
      `"instance":${TEXT},"origin":"${origin}","scheme":${TEXT},"sealKey":${keys},"v":1}$`,
  )
}
export const BORN = formOf<Statement>('born', `${PUBLIC_KEY},"signer":${ADDRESS}`)
export const MAX_STATEMENT_CHARACTERS = 4_096

/**
 * @param text canonical JSON (RFC 8785): its form leaves one way to write and to read it
 * @returns the statement, and the digest of its configuration's text, `0x` and SHA-256
 * @throws AttestationError `malformed-statement`, also for one of another kind, or `unsupported-version` where a later program wrote it
 */
export async function readStatement<S extends CommonStatement>(
  text: string,
  form: StatementForm<S>,
): Promise<{ statement: S; config: Hex }> {
  demand(!/,"v":(?!1})\d+}$/.test(text), 'unsupported-version')
  const [, configuration] = (text.length <= MAX_STATEMENT_CHARACTERS && form.exec(text)) || []
  demand(configuration !== undefined, 'malformed-statement')
  // The form has no twin keys but in the configuration, whose digest is of the text.
  return { statement: JSON.parse(text), config: `0x${await sha256(configuration)}` }
}
