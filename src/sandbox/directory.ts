import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type DirectoryLock, lockDirectory } from '../service/directoryLock.js'
import { CommandError } from '../terminal/failure.js'

/** Marks a directory as a sandbox's, whose content may be deleted. */
const MARKER = '.sandbox'
const CONTENTS = [
  ...['server', 'server.log', 'enclave', 'enclave.log'],
  ...['sandbox.json', 'deployment.json', '.env', '.env.enclave'],
]

/**
 * Creates the directory, or removes an earlier sandbox's files from it. Other sandboxes cannot take it until it is
 * released.
 * @throws CommandError `directory-foreign` if it holds files that no sandbox wrote, perhaps a real configuration;
 *   DirectoryLockedError if another sandbox runs in it
 */
export async function takeDirectory(directory: string): Promise<DirectoryLock> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const present = await readdir(directory)
  if (present.length > 0 && !present.includes(MARKER)) {
    const text = `${directory} is not empty and does not belong to a sandbox; it was left unchanged: choose another --directory`
    throw new CommandError('directory-foreign', text)
  }
  await writeFile(
    join(directory, MARKER),
    'The files in this directory belong to `npm run sandbox`, which deletes them.\n',
  )
  const lock = lockDirectory(directory)
  for (const name of CONTENTS) await rm(join(directory, name), { recursive: true, force: true })
  return lock
}
