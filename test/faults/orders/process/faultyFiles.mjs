// Every operation on the server's data directory, counted in each thread: one fails as planned, or ends the process.
import fs, { appendFileSync, existsSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const { FAULTS_DATA, FAULTS_FILES, FAULTS_STRUCK, FAULTS_FULL, FAULTS_KILL_AT, FAULTS_LOSE } = process.env
const planned = JSON.parse(FAULTS_FILES).map((fault) => ({ ...fault }))
/** Descriptors of files in the data directory. */
const ours = new Set()
let operations = 0

const GROWS = new Set(['open', 'write', 'mkdir'])

function isOurs(target) {
  return typeof target === 'number' ? ours.has(target) : `${target}`.startsWith(FAULTS_DATA)
}

/** The code of the failure that is due, if any. */
function due(operation) {
  operations++
  if (operations === Number(FAULTS_KILL_AT)) process.kill(process.pid, 'SIGKILL')
  const fault = planned.find((one) => one.operation === operation && one.times > 0)
  if (fault !== undefined && fault.after-- <= 0) {
    fault.times--
    appendFileSync(FAULTS_STRUCK, `${operation}\n`)
    return 'EIO'
  }
  return GROWS.has(operation) && existsSync(FAULTS_FULL) ? 'ENOSPC' : undefined
}

function failure(code) {
  return Object.assign(new Error(`${code}: injected`), { code })
}

function wrapSync(name, operation) {
  const real = fs[name]
  fs[name] = (target, ...rest) => {
    const code = isOurs(target) ? due(operation) : undefined
    if (code === undefined) return real(target, ...rest)
    if (operation === 'write') real(target, half(rest[0]), ...rest.slice(1))
    throw failure(code)
  }
}

function wrapPromise(name, operation) {
  const real = fs.promises[name]
  fs.promises[name] = async (target, ...rest) => {
    const code = isOurs(target) ? due(operation) : undefined
    if (code === undefined) return real(target, ...rest)
    if (operation === 'write') await real(target, half(rest[0]), ...rest.slice(1))
    throw failure(code)
  }
}

/** A disk gives up in the middle of a text, not before it. */
function half(text) {
  return `${text}`.slice(0, `${text}`.length / 2)
}

const NAMES = {
  readFile: 'read',
  readdir: 'list',
  writeFile: 'write',
  rename: 'rename',
  unlink: 'unlink',
  mkdir: 'mkdir',
  utimes: 'touch',
}
for (const [name, operation] of Object.entries(NAMES)) {
  wrapSync(`${name}Sync`, operation)
  wrapPromise(name, operation)
}
wrapPromise('open', 'open')

wrapSync('openSync', 'open')
const openSync = fs.openSync
fs.openSync = (path, ...rest) => {
  const descriptor = openSync(path, ...rest)
  if (isOurs(path)) ours.add(descriptor)
  return descriptor
}

const closeSync = fs.closeSync
fs.closeSync = (descriptor) => {
  ours.delete(descriptor)
  closeSync(descriptor)
}

const fsync = fs.fsync
fs.fsync = (descriptor, callback) => {
  const code = isOurs(descriptor) ? due('sync') : undefined
  if (code === undefined) fsync(descriptor, callback)
  else setImmediate(callback, failure(code))
}

// Writing ahead, broken on purpose: what is said to be written here is not. The bench has to notice.
if (FAULTS_LOSE !== undefined) {
  const renameSync = fs.renameSync
  fs.renameSync = (from, to) => (to.includes(FAULTS_LOSE) ? fs.unlinkSync(from) : renameSync(from, to))
}

syncBuiltinESMExports()
