import { open } from 'node:fs/promises'
import { computeAddress } from 'ethers'
import { type Hex, hexOf } from '../../protocol/hex.js'
import { isShared, SharedFileError } from '../../service/privateFile.js'
import { UsageError } from '../failure.js'

/** The sources of a secret. Never an argument, because every user of the machine sees those. */
interface SecretSource {
  /** The environment variable and its value. */
  readonly variable: string
  readonly value: string | undefined
  /** The option that names a file, and its value. */
  readonly option: string
  readonly file: string | undefined
}

/** A file of portfolio keys grows with each new key. */
const MAX_FILE_BYTES = 65_536

/**
 * Reads a secret from the environment, or from a file that only its owner can read.
 * @throws UsageError if neither or both are given
 */
export async function readSecret({ variable, value, option, file }: SecretSource): Promise<string> {
  if (value && file) throw new UsageError(`${variable} and --${option} are both given: use one`)
  if (file) return readOwnFile(file, option)
  if (value) return value
  throw new UsageError(`set ${variable}, or name a file with --${option}`)
}

/** Reads a file that only its owner can read. @throws UsageError */
export async function readOwnFile(path: string, option: string): Promise<string> {
  const handle = await open(path, 'r').catch(() => {
    throw new UsageError(`the file of --${option} cannot be read`)
  })
  try {
    const stats = await handle.stat()
    if (isShared(stats)) throw new UsageError(`the file of --${option}: ${new SharedFileError(path).message}`)
    if (stats.size > MAX_FILE_BYTES) throw new UsageError(`the file of --${option} is too long`)
    return (await handle.readFile('utf8')).trim()
  } finally {
    await handle.close()
  }
}

/** The wallet's key: `0x` and 64 hex digits. @throws UsageError, which does not quote it */
export async function readPrivateKey(source: SecretSource): Promise<Hex> {
  const key = hexOf(32).safeParse(await readSecret(source))
  if (key.success && isPrivateKey(key.data)) return key.data
  throw new UsageError('invalid private key: expected 0x and 64 hex digits, above zero and below the order')
}

function isPrivateKey(key: Hex): boolean {
  try {
    return computeAddress(key) !== ''
  } catch {
    return false
  }
}
