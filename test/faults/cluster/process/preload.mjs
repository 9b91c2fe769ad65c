// Preloaded into each server of the cluster (`node --import`), so that the server itself knows nothing of the bench: it is killed or
// stopped before or after a statement that the plan names.
import { join } from 'node:path'
import pg from 'pg'
import { stepClock } from '../../orders/process/steppedClock.mjs'
import { createActs } from '../../support/acts.mjs'

const { FAULTS_BENCH: bench, FAULTS_CLOCK, FAULTS_WEAK } = process.env
const reached = createActs({
  planned: join(bench, 'server-acts'),
  done: join(bench, 'server-acted'),
  die: () => process.kill(process.pid, 'SIGKILL'),
})

/** The name of a statement's step, by how its text begins, and by the row where that is the narrator's. */
function stepOf({ text, values }) {
  if (text.startsWith('WITH batch') && values[0].includes('narrator')) return 'write-cursor'
  if (text.startsWith('WITH batch')) return `write-${/UPDATE (\w+) AS stored/.exec(text)?.[1]}`
  if (text.startsWith('WITH expired')) return 'take'
  if (text.startsWith('UPDATE leases')) return 'renew'
  return undefined
}

/** A fence that is broken on purpose. The bench has to notice. */
function weakened(text) {
  if (FAULTS_WEAK === 'no-fence')
    return text.replace('WHERE lease IS NULL OR', 'WHERE true OR lease IS NULL OR')
  return text
}

const { query } = pg.Pool.prototype
pg.Pool.prototype.query = async function stepped(statement, ...rest) {
  const step = stepOf(statement)
  if (step === undefined) return query.call(this, statement, ...rest)
  reached(`before-${step}`)
  const answer = await query.call(this, { ...statement, text: weakened(statement.text) }, ...rest)
  reached(`after-${step}`)
  return answer
}

stepClock(FAULTS_CLOCK)
