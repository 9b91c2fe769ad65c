import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type DirectoryLock, lockDirectory } from '../service/directoryLock.js'

/** Marks a directory as a sandbox's, whose content may be deleted. */
const MARKER = '.sandbox'
const CONTENTS = ['server', 'server.log', 'enclave', 'enclave.log', 'sandbox.json', '.env', '.env.enclave']
/** A numbered server's log. */
const NUMBERED_LOG = /^server-\d+\.log$/

/** The directory holds files that no sandbox wrote, perhaps a real configuration. */
export class ForeignDirectoryError extends Error {
  override readonly name = 'ForeignDirectoryError'

  constructor(directory: string) {
    super(
      `${directory} is not empty and does not belong to a sandbox; it was left unchanged: choose another --directory`,
    )
  }
}

/**
 * Creates the directory, or removes an earlier sandbox's files from it. Other sandboxes cannot take it until it is
 * released.
 * @throws ForeignDirectoryError; DirectoryLockedError if another sandbox runs in it
 */
export async function takeDirectory(directory: string): Promise<DirectoryLock> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const present = await readdir(directory)
  if (present.length > 0 && !present.includes(MARKER)) throw new ForeignDirectoryError(directory)
  await writeFile(
    join(directory, MARKER),
    'The files in this directory belong to `npm run sandbox`, which deletes them.\n',
  )
  const lock = lockDirectory(directory)
  for (const name of [...CONTENTS, ...present.filter((name) => NUMBERED_LOG.test(name))])
    await rm(join(directory, name), { recursive: true, force: true })
  return lock
}
