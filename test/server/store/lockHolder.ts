// A process that takes the lock of the directory in its first argument, looks after it as often as the second says (ms), and stays.
import { DirectoryLockedError, lockDirectory } from '../../../src/server/store/directoryLock.js'

const [, , directory = '', refreshMs] = process.argv
try {
  await lockDirectory(directory, Number(refreshMs))
  process.stdout.write('locked\n')
  setInterval(() => undefined, 60_000)
} catch (error) {
  if (!(error instanceof DirectoryLockedError)) throw error
  process.stdout.write('refused\n')
}
