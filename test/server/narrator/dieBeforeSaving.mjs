// Preloaded into the server's process (`node --import`), and into its threads: it dies the moment a new cursor would be committed.
import { StatementSync } from 'node:sqlite'

const { run } = StatementSync.prototype
let isCursor = false

StatementSync.prototype.run = function runOrDie(...values) {
  isCursor ||= values.includes('narrator') && this.sourceSQL.includes(' state ')
  if (isCursor && this.sourceSQL === 'COMMIT') process.kill(process.pid, 'SIGKILL')
  return run.apply(this, values)
}
