// Preloaded into every thread of the server (`node --import`), so the server needs no code for the storm. It counts the steps of
// the stores in each thread and lets them fail as planned. It sets the clock, and preloads a module into the server's enclave.
import childProcess from 'node:child_process'
import { appendFileSync, existsSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { StatementSync } from 'node:sqlite'
import { createKill, stepClock } from '../engine/steps.mjs'

const { FAULTS_CLOCK, FAULTS_STORE, FAULTS_STRUCK, FAULTS_FULL, FAULTS_LOSE } = process.env
const planned = JSON.parse(FAULTS_STORE).map((fault) => ({ ...fault }))
const FULL = 13
const IOERR_READ = 266
const IOERR_WRITE = 778
const IOERR_FSYNC = 1034
const reached = createKill()
const step = () => reached('store')

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
  // A failed sync may have left the data on the disk.
  if (isDue('sync')) fail(IOERR_FSYNC)
  return result
}

StatementSync.prototype.run = function faultyRun(...values) {
  step()
  const { sourceSQL } = this
  if (sourceSQL === 'COMMIT') return commit(this)
  if (sourceSQL.startsWith('BEGIN')) return run.call(this)
  if (existsSync(FAULTS_FULL) || isDue('full')) fail(FULL)
  // Breaks the write-ahead rule on purpose: these rows are lost. The storm has to notice.
  if (FAULTS_LOSE !== undefined && sourceSQL.includes(` ${FAULTS_LOSE} `)) return { changes: 1 }
  return run.apply(this, values)
}

StatementSync.prototype.all = function faultyAll(...values) {
  step()
  if (isDue('read')) fail(IOERR_READ)
  return all.apply(this, values)
}

// The enclave inherits nothing of the server's environment.
const ENCLAVE_PRELOAD = new URL('enclave.mjs', import.meta.url).href
const HANDED_ON = ['FAULTS_BENCH', 'FAULTS_FORGET', 'NODE_COMPILE_CACHE']

const { spawn } = childProcess
childProcess.spawn = (program, args, options) => {
  if (args.at(-1) !== 'serve') return spawn(program, args, options)
  const env = { ...options.env, FAULTS_BENCH_PID: `${process.ppid}` }
  for (const name of HANDED_ON) if (process.env[name] !== undefined) env[name] = process.env[name]
  return spawn(program, ['--import', ENCLAVE_PRELOAD, ...args], { ...options, env })
}
syncBuiltinESMExports()

stepClock(FAULTS_CLOCK)
