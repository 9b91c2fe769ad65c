// Preloaded into every thread of a server (`node --import`), so the server needs no code for the storm. It counts the steps of the
// server's stores and requests, kills, stops or fails it there, sets its clock, and preloads a module into its enclave.
import childProcess from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import { existsSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { StatementSync } from 'node:sqlite'
import { createActs, stepClock, stepRequests } from './steps.mjs'

const { FAULTS_BENCH: bench, DATABASE_URL } = process.env
const reached = createActs(join(bench, 'server'))

/** SQLite's error codes. */
const FULL = 13
const IOERR_READ = 266
const IOERR_WRITE = 778
const IOERR_FSYNC = 1034

function fail(errcode) {
  throw Object.assign(new Error('injected'), { code: 'ERR_SQLITE_ERROR', errcode })
}

const { run, all } = StatementSync.prototype

function stepOfSqlite(sql, values) {
  if (sql === 'COMMIT') return 'commit'
  const [, verb, table] = /^(INSERT INTO|UPDATE|DELETE FROM) (\w+)/.exec(sql) ?? []
  if (table === 'leases') return { 'INSERT INTO': 'take', UPDATE: 'renew', 'DELETE FROM': 'release' }[verb]
  if (table === 'state' && values.includes('narrator')) return 'write-cursor'
  return table && `write-${table}`
}

StatementSync.prototype.run = function faultyRun(...values) {
  const step = stepOfSqlite(this.sourceSQL, values)
  if (step === undefined) return run.apply(this, values)
  reached(`before-${step}`)
  if (step === 'commit') {
    if (reached('commit')) fail(IOERR_WRITE)
  } else if (existsSync(join(bench, 'full')) || reached('full')) fail(FULL)
  const result = run.apply(this, values)
  reached(`after-${step}`)
  // A failed sync may have left the data on the disk.
  if (step === 'commit' && reached('sync')) fail(IOERR_FSYNC)
  return result
}

StatementSync.prototype.all = function faultyAll(...values) {
  const isFirst = this.sourceSQL.endsWith('WHERE is_open = 1')
  if (isFirst) reached('before-first-read')
  if (reached('read')) fail(IOERR_READ)
  const rows = all.apply(this, values)
  if (isFirst) reached('after-first-read')
  return rows
}

/** The name of a statement's step, by how its text begins, and by the row where that is the narrator's. */
function stepOfPostgres({ text, values }) {
  if (text.startsWith('SELECT transact(')) {
    const writes = JSON.parse(values[0])
    if (writes.some(isOfNarrator)) return 'write-cursor'
    return `write-${writes.flatMap(({ changes }) => changes).find(({ table }) => table !== undefined)?.table}`
  }
  if (text.startsWith('WITH expired')) return 'take'
  if (text.startsWith('UPDATE leases')) return 'renew'
  if (text.startsWith('DELETE FROM leases WHERE name')) return 'release'
  // With this statement a new term reads what the one before has left.
  return text.includes('WHERE is_open AND id > $1') ? 'first-read' : undefined
}

function isOfNarrator({ changes }) {
  return changes.some(({ row }) => row?.id === 'narrator')
}

if (DATABASE_URL !== undefined) {
  const { default: pg } = await import('pg')
  const { query } = pg.Client.prototype
  pg.Client.prototype.query = async function stepped(statement, ...rest) {
    const step = stepOfPostgres(statement)
    if (step === undefined) return query.call(this, statement, ...rest)
    reached(`before-${step}`)
    if (step.startsWith('write-') && existsSync(join(bench, 'full'))) {
      throw Object.assign(new Error('injected'), { code: '53100' })
    }
    const answer = await query.call(this, statement, ...rest)
    reached(`after-${step}`)
    return answer
  }
}

stepRequests((_sent, body) => {
  // A server posts to the enclave alone.
  return JSON.parse(body).job === 'order' ? { before: 'before-offer', after: 'after-offer' } : {}
}, reached)

subscribe('http.server.response.finish', ({ request, response }) => {
  if (request.method !== 'POST' || response.statusCode >= 300) return
  const { originalUrl: path = request.url } = request
  if (path === '/orders') reached('order-answered')
  if (path.endsWith('/result')) reached('result-answered')
})

// The enclave inherits nothing of the server's environment.
const ENCLAVE_PRELOAD = new URL('enclave.mjs', import.meta.url).href
const HANDED_ON = ['FAULTS_BENCH', 'NODE_COMPILE_CACHE']
const { spawn } = childProcess
childProcess.spawn = (program, args, options) => {
  if (args.at(-1) !== 'serve') return spawn(program, args, options)
  const env = { ...options.env, FAULTS_BENCH_PID: `${process.ppid}` }
  for (const name of HANDED_ON) if (process.env[name] !== undefined) env[name] = process.env[name]
  return spawn(program, ['--import', ENCLAVE_PRELOAD, ...args], { ...options, env })
}
syncBuiltinESMExports()

stepClock(join(bench, 'clock'))
