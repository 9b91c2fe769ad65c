import type { Hex } from '../protocol/hex.js'
import { sha256 } from './bytes.js'
import { demand } from './errors.js'

/** What an enclave says of itself. The SHA-256 of its text is the user data of the evidence, on every platform. */
export interface Statement {
  readonly v: 1
  /** The signing key and the key to seal to were made inside the program, which shows them to nobody. */
  readonly origin: 'born'
  readonly chainId: number
  /** Addresses of the contracts `Authority` and `OrderEscrow`. */
  readonly authority: Hex
  readonly escrow: Hex
  /** The address whose signature authorizes, which the chain has as `enclaveSigner()`. */
  readonly signer: Hex
  /** The compressed public key that clients seal to, and the scheme. */
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

const ADDRESS = '"0x[0-9a-fA-F]{40}"'
const NATURAL = '[1-9]\\d{0,15}'
/** Printable ASCII that JSON writes as it is: nothing of it steers a terminal or looks like something else. */
const TEXT = '"[ !#-[\\]-~]*"'

/** The text of each member, in the order of RFC 8785. */
const MEMBERS = {
  authority: ADDRESS,
  boot: NATURAL,
  build: `{"digest":"[0-9a-f]{64}","version":${TEXT}}`,
  chainId: NATURAL,
  configuration: `({(?:"[A-Z_]+":${TEXT},?)+})`,
  escrow: ADDRESS,
  instance: '"[0-9a-f-]{36}"',
  origin: '"born"',
  scheme: TEXT,
  sealKey: '"0x0[23][0-9a-f]{64}"',
  signer: ADDRESS,
  v: '1',
}
const FORM = new RegExp(
  `^{${Object.entries(MEMBERS)
    .map(([name, text]) => `"${name}":${text}`)
    .join()}}$`,
)
const MAX_CHARACTERS = 4_096

/**
 * @param text canonical JSON (RFC 8785): its form leaves one way to write and to read it
 * @returns the statement, and the digest of its configuration's text, `0x` and SHA-256
 * @throws AttestationError `malformed-statement`, or `unsupported-version` where a later program wrote it
 */
export async function readStatement(text: string): Promise<{ statement: Statement; config: Hex }> {
  demand(text.length <= MAX_CHARACTERS, 'malformed-statement')
  demand(!/,"v":(?!1})\d+}$/.test(text), 'unsupported-version')
  const [, configuration] = FORM.exec(text) ?? []
  demand(configuration !== undefined, 'malformed-statement')
  // The form has no twin keys but in the configuration, whose digest is of the text.
  return { statement: JSON.parse(text), config: `0x${await sha256(configuration)}` }
}
