// Every step of the server's stores, counted in each thread: one fails as planned, or ends the process.
import { appendFileSync, existsSync } from 'node:fs'
import { StatementSync } from 'node:sqlite'

const { FAULTS_STORE, FAULTS_STRUCK, FAULTS_FULL, FAULTS_KILL_AT, FAULTS_LOSE } = process.env
const planned = JSON.parse(FAULTS_STORE).map((fault) => ({ ...fault }))
const FULL = 13
const IOERR_READ = 266
const IOERR_WRITE = 778
const IOERR_FSYNC = 1034
let steps = 0

/** What ends the process ends it here. */
function step() {
  steps++
  if (steps === Number(FAULTS_KILL_AT)) process.kill(process.pid, 'SIGKILL')
}

function isDue(kind) {
  const fault = planned.find((one) => one.kind === kind && one.times > 0)
  if (fault === undefined || fault.after-- > 0) return false
  fault.times--
  appendFileSync(FAULTS_STRUCK, `${kind}\n`)
  return true
}

function fail(errcode) {
  throw Object.assign(new Error('injected'), { code: 'ERR_SQLITE_ERROR', errcode })
}

const { run, all } = StatementSync.prototype

function commit(statement) {
  if (isDue('commit')) fail(IOERR_WRITE)
  const result = run.call(statement)
  step()
  // What a failed sync leaves may be there after all.
  if (isDue('sync')) fail(IOERR_FSYNC)
  return result
}

StatementSync.prototype.run = function faultyRun(...values) {
  step()
  const { sourceSQL } = this
  if (sourceSQL === 'COMMIT') return commit(this)
  if (sourceSQL.startsWith('BEGIN')) return run.call(this)
  if (existsSync(FAULTS_FULL) || isDue('full')) fail(FULL)
  // Writing ahead, broken on purpose: what is said to be written here is not. The bench has to notice.
  if (FAULTS_LOSE !== undefined && sourceSQL.includes(` ${FAULTS_LOSE} `)) return { changes: 1 }
  return run.apply(this, values)
}

StatementSync.prototype.all = function faultyAll(...values) {
  step()
  if (isDue('read')) fail(IOERR_READ)
  return all.apply(this, values)
}
