import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type DirectoryLock, lockDirectory } from '../service/directoryLock.js'

/** Says that a directory is a sandbox's, and that what is in it may be thrown away. */
const MARKER = '.sandbox'
const CONTENTS = ['server', 'server.log', 'enclave', 'enclave.log', 'sandbox.json', '.env', '.env.enclave']
/** Of several servers. */
const NUMBERED_LOG = /^server-\d+\.log$/

/** The directory holds something that no sandbox has put there, a real configuration perhaps. */
export class ForeignDirectoryError extends Error {
  override readonly name = 'ForeignDirectoryError'

  constructor(directory: string) {
    super(`${directory} is not empty and no sandbox's: nothing in it was touched; choose another --directory`)
  }
}

/**
 * Makes the directory, or removes what an earlier sandbox left in it; no other sandbox can take it before the release.
 * @throws ForeignDirectoryError; DirectoryLockedError when another sandbox runs in it
 */
export async function takeDirectory(directory: string): Promise<DirectoryLock> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const present = await readdir(directory)
  if (present.length > 0 && !present.includes(MARKER)) throw new ForeignDirectoryError(directory)
  await writeFile(
    join(directory, MARKER),
    'What is in this directory belongs to `npm run sandbox`, which empties it.\n',
  )
  const lock = lockDirectory(directory)
  for (const name of [...CONTENTS, ...present.filter((name) => NUMBERED_LOG.test(name))])
    await rm(join(directory, name), { recursive: true, force: true })
  return lock
}
