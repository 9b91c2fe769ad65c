// The real enclave, which tells of its beginning and its end, and acts up when its turn comes.
// Arguments: the bench's directory, and the enclave's program.
import { spawn } from 'node:child_process'
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { isRunning, ownIdentity } from '../../../../dist/server/processIdentity.js'
import { stepClock } from './steppedClock.mjs'

const [bench, enclave] = process.argv.slice(2)
const CHILDREN = 5
const CHILD_MS = 600_000

/** Every start and every end is one byte, so that a file's size is their count. */
function tell(event) {
  appendFileSync(join(bench, event), '.')
}

/** Notes this run beside those of its account, and every other one of them that is alive. */
function watchForOthers({ orderId, runId }) {
  const account = readFileSync(join(bench, 'accounts', orderId), 'utf8')
  const place = join(bench, 'running', account)
  mkdirSync(place, { recursive: true })
  const own = join(place, runId)
  writeFileSync(`${own}.new`, JSON.stringify({ ...ownIdentity(), orderId }))
  renameSync(`${own}.new`, own)
  for (const name of readdirSync(place).filter((name) => name !== runId && !name.endsWith('.new'))) {
    const other = readOther(join(place, name))
    if (other !== undefined && isRunning(other)) {
      appendFileSync(join(bench, 'overlaps'), `${orderId} ran beside ${other.orderId}, both of ${account}\n`)
    }
  }
  process.on('exit', () => {
    rmSync(own)
    tell('ended')
  })
  tell('started')
}

/** Undefined when it has ended meanwhile. */
function readOther(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

/** The next act, taken from the others by renaming its file. */
function takeAct() {
  for (const name of readdirSync(join(bench, 'acts')).sort()) {
    try {
      renameSync(join(bench, 'acts', name), join(bench, 'acted', name))
      return JSON.parse(readFileSync(join(bench, 'acted', name), 'utf8'))
    } catch {
      // Another run was quicker.
    }
  }
  return undefined
}

/** Resolves with whether the enclave's work follows. */
const ACTS = {
  exit: () => process.exit(3),
  garbage(job) {
    writeFileSync(job.resultFile, '{"outcome": "settled"')
    process.exit(0)
  },
  hang() {
    process.on('SIGTERM', () => undefined)
    setInterval(() => undefined, 1_000)
    return false
  },
  die(_job, afterMs) {
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), afterMs).unref()
    return true
  },
  freeze(_job, afterMs) {
    setTimeout(() => process.kill(process.pid, 'SIGSTOP'), afterMs).unref()
    return true
  },
  babble() {
    for (let i = 0; i < 2_000; i++) process.stdout.write(`${'x'.repeat(1_000)}\n`)
    return true
  },
  fork() {
    for (let i = 0; i < CHILDREN; i++) {
      const script = `setTimeout(() => undefined, ${CHILD_MS})`
      spawn(process.execPath, ['-e', script], { stdio: 'ignore' }).unref()
    }
    return true
  },
}

stepClock(join(bench, 'clock'))
const input = await text(process.stdin)
const job = JSON.parse(input)
let works = true
if (job.job === 'order') {
  watchForOthers(job)
  const planned = takeAct()
  if (planned !== undefined) works = ACTS[planned.act](job, planned.afterMs)
}
if (works) {
  // The job has been read: the enclave gets it once more.
  Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(input)]) })
  await import(enclave)
}
