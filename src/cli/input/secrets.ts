import type { Hex } from '../../protocol/hex.js'
import { privateKey } from '../../service/configKinds.js'
import { readPrivateFile, SharedFileError } from '../../service/privateFile.js'
import { usage } from '../../terminal/failure.js'

/** The sources of a secret. Never an argument, because every user of the machine sees those. */
interface SecretSource {
  /** The environment variable and its value. */
  readonly variable: string
  readonly value: string | undefined
  /** The option that names a file, and its value. */
  readonly option: string
  readonly file: string | undefined
}

/**
 * Reads a secret from the environment, or from a file that only its owner can read.
 * @throws CommandError `usage` if neither or both are given
 */
function readSecret({ variable, value, option, file }: SecretSource): string {
  if (value && file) throw usage(`${variable} and --${option} are both given: use one`)
  if (file) return readOwnFile(file, option)
  if (value) return value
  throw usage(`set ${variable}, or name a file with --${option}`)
}

/** Reads a file that only its owner can read. @throws CommandError `usage` */
export function readOwnFile(path: string, option: string): string {
  try {
    return readPrivateFile(path).toString().trim()
  } catch (error) {
    const fault = error instanceof SharedFileError ? `: ${error.message}` : ' cannot be read'
    throw usage(`the file of --${option}${fault}`)
  }
}

/** The wallet's key: `0x` and 64 hex digits. @throws CommandError `usage`, which does not quote it */
export function readPrivateKey(source: SecretSource): Hex {
  const key = privateKey().safeParse(readSecret(source))
  if (key.success) return key.data
  throw usage('invalid private key: expected 0x and 64 hex digits, above zero and below the order')
}
