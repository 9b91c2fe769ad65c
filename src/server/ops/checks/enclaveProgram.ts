import { access, constants, stat } from 'node:fs/promises'
import { basename, delimiter, extname, join } from 'node:path'
import { stateOfPrivateFile } from '../../../service/privateFile.js'
import type { Look } from '../check.js'

/**
 * Whether the enclave's program is there and may be run, and its configuration may be read, by this user alone. Neither
 * is: what is in them is not the server's business.
 */
export function enclaveLook(options: {
  /** Program and arguments. */
  readonly command: readonly string[]
  /** The enclave's own configuration. */
  readonly envFile: string
  /** Where the program is looked for, as in a shell. */
  readonly searchPath: string
}): Look {
  const { command, envFile, searchPath } = options
  const [program = '', ...args] = command
  const script = scriptOf(program, args)
  return async () => {
    const isThere = await some(placesOf(program, searchPath), constants.X_OK)
    if (!isThere) return 'enclave-program-missing'
    if (script !== undefined && !(await isFile(script, constants.R_OK))) return 'enclave-program-missing'
    const state = await stateOfPrivateFile(envFile)
    return state === 'private' ? null : `enclave-configuration-${state}`
  }
}

/** A name without a slash is looked for in the search path, as spawning does. */
function placesOf(program: string, searchPath: string): string[] {
  if (program.includes('/')) return [program]
  return searchPath.split(delimiter).map((directory) => join(directory, program))
}

/** The file that Node is to run. Of any other program's arguments nothing is known. */
function scriptOf(program: string, [first = '']: readonly string[]): string | undefined {
  const isNode = program === process.execPath || basename(program) === 'node'
  // Node tries endings of its own where there is none.
  return isNode && !first.startsWith('-') && extname(first) !== '' ? first : undefined
}

async function some(paths: readonly string[], mode: number): Promise<boolean> {
  const found = await Promise.all(paths.map((path) => isFile(path, mode)))
  return found.includes(true)
}

async function isFile(path: string, mode: number): Promise<boolean> {
  try {
    await access(path, mode)
    return (await stat(path)).isFile()
  } catch {
    return false
  }
}
