// A process that takes the lock of the directory in its argument, and stays.
import { DirectoryLockedError, lockDirectory } from '../../src/service/directoryLock.js'

const [, , directory = ''] = process.argv
try {
  lockDirectory(directory)
  process.stdout.write('locked\n')
  setInterval(() => undefined, 60_000)
} catch (error) {
  if (!(error instanceof DirectoryLockedError)) throw error
  process.stdout.write('refused\n')
}
