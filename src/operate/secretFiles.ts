import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { bytesToHex, type Hex, hexOf, hexToBytes } from '../protocol/hex.js'
import { addressOfKey, publicKeyOf } from '../protocol/publicKey.js'
import { readPrivateFile, SharedFileError, writeNewFile } from '../service/privateFile.js'
import { CommandError } from '../terminal/failure.js'

/** The program, or the person, whose secret it is. Each has a folder that is handed to its user alone. */
type Holder = 'server' | 'enclave' | 'operator'

interface SecretFile {
  readonly variable: string
  /** Several holders: each gets a copy. */
  readonly holders: readonly Holder[]
  /** Null where the broker issues it. */
  readonly draw: (() => string) | null
  /** Its public part, by the variable's name. */
  readonly publicPart?: readonly [name: string, of: (secret: Hex) => string]
  /** The contracts or the ledger depend on it, so another one is of no use after the deployment. */
  readonly isFixed?: true
  /** An attested enclave takes none from a file: it makes its keys itself, and the owner's provisioning brings the broker's. */
  readonly isFileKey?: true
}

/** Which secrets a deployment has. */
export interface SecretKinds {
  /** The operator's too. */
  readonly operator?: boolean
  /** The enclave is attested. */
  readonly attested?: boolean
}

export const draw = {
  privateKey: () => bytesToHex(randomBytes(32)),
  token: () => randomBytes(32).toString('hex'),
  triggerSecret: () => `whsec_${randomBytes(32).toString('base64')}`,
}
export const publicKeyOfKey = (key: Hex) => publicKeyOf(hexToBytes(key))

const SECRETS: readonly SecretFile[] = [
  {
    variable: 'LEDGER_MASTER_KEY',
    holders: ['enclave'],
    draw: draw.privateKey,
    isFixed: true,
    isFileKey: true,
  },
  {
    variable: 'INTENT_PRIVATE_KEY',
    holders: ['enclave'],
    draw: draw.privateKey,
    publicPart: ['INTENT_PUBKEY', publicKeyOfKey],
    isFixed: true,
    isFileKey: true,
  },
  {
    variable: 'ENCLAVE_PRIVATE_KEY',
    holders: ['enclave'],
    draw: draw.privateKey,
    publicPart: ['ENCLAVE_SIGNER', addressOfKey],
    isFixed: true,
    isFileKey: true,
  },
  {
    variable: 'RELAYER_PRIVATE_KEY',
    holders: ['server'],
    draw: draw.privateKey,
    publicPart: ['RELAYER_ADDRESS', addressOfKey],
  },
  { variable: 'RELAY_AUTH_TOKEN', holders: ['server', 'enclave'], draw: draw.token },
  { variable: 'ENCLAVE_TRIGGER_SECRET', holders: ['server', 'enclave'], draw: draw.triggerSecret },
  { variable: 'ALPACA_KEY_ID', holders: ['server'], draw: null },
  { variable: 'ALPACA_SECRET_KEY', holders: ['server'], draw: null },
  { variable: 'ALPACA_KEY_ID', holders: ['enclave'], draw: null, isFileKey: true },
  { variable: 'ALPACA_SECRET_KEY', holders: ['enclave'], draw: null, isFileKey: true },
]

/** On a chain of value these are people's: a hardware wallet, or several signers. */
const OPERATOR_SECRETS: readonly SecretFile[] = (['deployer', 'owner', 'guardian'] as const).map((role) => ({
  variable: `${role.toUpperCase()}_PRIVATE_KEY`,
  holders: ['operator'],
  draw: draw.privateKey,
  publicPart: [`${role.toUpperCase()}_ADDRESS`, addressOfKey],
  isFixed: true,
}))

function secretsOf({ operator, attested }: SecretKinds): readonly SecretFile[] {
  const secrets = attested === true ? SECRETS.filter(({ isFileKey }) => isFileKey !== true) : SECRETS
  return operator === true ? [...secrets, ...OPERATOR_SECRETS] : secrets
}

function pathOf(directory: string, holder: Holder, variable: string): string {
  return join(directory, 'secrets', holder, variable.toLowerCase().replaceAll('_', '-'))
}

/** Where `keys` stands in a directory. */
export function inspectSecrets(directory: string, kinds: SecretKinds) {
  const files = secretsOf(kinds).flatMap(({ variable, holders, draw, isFixed = false }) =>
    holders.map((holder) => {
      const path = pathOf(directory, holder, variable)
      return { path, isDrawn: draw !== null, isFixed, exists: existsSync(path) }
    }),
  )
  const paths = (select: (file: (typeof files)[number]) => boolean) =>
    files.filter(select).map(({ path }) => path)
  return {
    /** Files that it would make. */
    missing: paths(({ exists, isDrawn }) => !exists && isDrawn),
    kept: paths(({ exists }) => exists),
    /** Files that the operator has to fill: the broker issues what is in them. */
    toFill: paths(({ exists, isDrawn }) => !exists && !isDrawn),
    /** The missing ones that must not change after a deployment. */
    missingFixed: paths(({ exists, isFixed }) => !exists && isFixed),
  }
}

/**
 * Makes every drawn secret that is missing, in a file of mode 0600; keeps those that exist.
 * @returns the public values, by the name of the variable that takes each
 * @throws CommandError `secret-shared`, `secret-malformed`, `secrets-differ`
 */
export function makeSecrets(directory: string, kinds: SecretKinds): Record<string, string> {
  const values: Record<string, string> = {}
  for (const { variable, holders, draw, publicPart } of secretsOf(kinds)) {
    if (draw === null) continue
    const paths = holders.map((holder) => pathOf(directory, holder, variable))
    const existing = paths
      .filter((path) => existsSync(path))
      .map((path) => readSecret(path).toString().trimEnd())
    const [secret = draw(), ...others] = existing
    if (others.some((other) => other !== secret)) {
      throw new CommandError('secrets-differ', `${paths.join(' and ')} differ`)
    }
    for (const path of paths) if (!existsSync(path)) writeSecret(path, secret)
    if (publicPart) values[publicPart[0]] = publicPart[1](keyIn(secret, paths[0] ?? variable))
  }
  return values
}

/** The `<NAME>_FILE` variables of a program's secrets, as absolute paths. */
export function secretFileVariables(
  directory: string,
  holder: Holder,
  kinds: SecretKinds,
): Record<string, string> {
  const own = secretsOf(kinds).filter(({ holders }) => holders.includes(holder))
  return Object.fromEntries(
    own.map(({ variable }) => [`${variable}_FILE`, resolve(pathOf(directory, holder, variable))]),
  )
}

function writeSecret(path: string, secret: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeNewFile(path, `${secret}\n`)
}

/** @throws CommandError `secret-shared` */
export function readSecret(path: string): Buffer {
  try {
    return readPrivateFile(path)
  } catch (error) {
    if (!(error instanceof SharedFileError)) throw error
    throw new CommandError('secret-shared', `${path}: ${error.message}`)
  }
}

function keyIn(secret: string, path: string): Hex {
  const key = hexOf(32).safeParse(secret)
  if (key.success) return key.data
  throw new CommandError('secret-malformed', `${path} is no private key: expected 0x and 64 hex digits`)
}
