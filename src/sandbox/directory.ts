import { chmod, mkdir, mkdtemp, readdir, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DirectoryLock, lockDirectory } from '../service/directoryLock.js'

/** Marks a directory as a sandbox's, whose content may be deleted. */
const MARKER = '.sandbox'
const CONTENTS = ['server', 'server.log', 'enclave', 'enclave.log', 'sandbox.json', '.env', '.env.enclave']
/** A link to the database's files. */
const DATABASE = 'postgres'
/** Where they are: PostgreSQL runs as another user when this one is root, and could not reach the sandbox's directory. */
const DATABASE_FILES = join(tmpdir(), 'sandbox-postgres-')
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
  await removeDatabase(directory)
  for (const name of [...CONTENTS, ...present.filter((name) => NUMBERED_LOG.test(name))])
    await rm(join(directory, name), { recursive: true, force: true })
  return lock
}

/** Makes an empty directory for a database's files, which the next sandbox in `directory` removes if this one is killed. */
export async function makeDatabaseDirectory(directory: string): Promise<string> {
  const files = await mkdtemp(DATABASE_FILES)
  await symlink(files, join(directory, DATABASE))
  // The other user has to pass through it.
  await chmod(files, 0o711)
  return files
}

/** Removes the files of a sandbox's database, if it has any. */
export async function removeDatabase(directory: string): Promise<void> {
  const link = join(directory, DATABASE)
  const files = await readlink(link).catch(() => undefined)
  // A link that no sandbox made may lead anywhere.
  if (files === undefined || !files.startsWith(DATABASE_FILES)) return
  await rm(files, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  await rm(link)
}
