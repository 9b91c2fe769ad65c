import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  openSync,
  readFileSync,
  type Stats,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { access, stat } from 'node:fs/promises'

/** Other users of the machine have rights on the file. `remedy` is the command that removes them. */
export class SharedFileError extends Error {
  override readonly name = 'SharedFileError'
  readonly remedy: string

  constructor(path: string) {
    const remedy = `chmod 600 ${path}`
    super(`others than its owner have rights on it: ${remedy}`)
    this.remedy = remedy
  }
}

/** Rights of the group and of others. */
const SHARED_MODE = 0o077

/**
 * Whether other users of the machine have rights on the file. Windows has no modes; there its access lists decide, which
 * Node does not show. A device such as /dev/null keeps nothing.
 */
export function isShared(stats: Pick<Stats, 'mode' | 'isCharacterDevice'>): boolean {
  if (process.platform === 'win32' || stats.isCharacterDevice()) return false
  return (stats.mode & SHARED_MODE) !== 0
}

/**
 * Reads a file that holds keys. Its mode is that of the open file, so that no other can replace it in between.
 * @throws SharedFileError; the system's error when it cannot be read
 */
export function readPrivateFile(path: string): Buffer {
  const file = openSync(path, 'r')
  try {
    if (isShared(fstatSync(file))) throw new SharedFileError(path)
    return readFileSync(file)
  } finally {
    closeSync(file)
  }
}

/**
 * Makes a file that is not there yet, whole and durable or not at all: an interrupted one would count as a secret.
 * @throws the system's error, `EEXIST` where there is one
 */
export function writeNewFile(path: string, text: string, mode = 0o600): void {
  const part = `${path}.${process.pid}.part`
  writeFileSync(part, text, { mode, flush: true })
  try {
    linkSync(part, path)
  } finally {
    unlinkSync(part)
  }
}

/** Whether a program of this user's would accept keys from the file. Does not open it. */
export async function stateOfPrivateFile(path: string): Promise<'private' | 'shared' | 'unreadable'> {
  try {
    await access(path, constants.R_OK)
    const stats = await stat(path)
    if (stats.isDirectory()) return 'unreadable'
    return isShared(stats) ? 'shared' : 'private'
  } catch {
    return 'unreadable'
  }
}
