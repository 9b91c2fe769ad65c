// A process that takes the lock of the directory in its first argument, says how that went, and stays.
import { DirectoryLockedError, lockDirectory } from '../../../src/server/store/directoryLock.js'

const [, , directory = ''] = process.argv
try {
  await lockDirectory(directory)
  process.stdout.write('locked\n')
  setInterval(() => undefined, 60_000)
} catch (error) {
  if (!(error instanceof DirectoryLockedError)) throw error
  process.stdout.write('refused\n')
}
