// A resident enclave whose runs do as their script says: the real door, table and delivery, without an order's life. It takes
// its settings from SETTINGS, a JSON object, and its script as the scripted enclave does, from `<ENCLAVE_ENV_FILE>.plan.json`.
// A step: {outcome, ...result, waitMs?, untilFile?, early?, act?: 'hang' | 'throw' | 'reject' | 'crash'}
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { openTable, startResident } from '../../../dist/enclave/resident/resident.js'
import { StateLockedError } from '../../../dist/enclave/resident/runTable.js'
import { createLogger } from '../../../dist/service/logger.js'
import { processEnd } from '../../../dist/service/processEnd.js'

const envFile = process.env.ENCLAVE_ENV_FILE
const started = new Map()

function stepOf(job) {
  const key = job.orderId ?? job.job
  const path = `${envFile}.plan.json`
  const plan = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {}
  const steps = plan[key] ?? plan.any ?? [{ outcome: 'placed', retryAt: 4_000_000_000 }]
  const before = started.get(key) ?? 0
  started.set(key, before + 1)
  return steps[Math.min(before, steps.length - 1)]
}

async function run(job, report) {
  const key = job.orderId ?? job.job
  const note = { event: 'started', at: Date.now(), pid: process.pid, runId: job.runId, key, job }
  appendFileSync(`${envFile}.log`, `${JSON.stringify(note)}\n`)
  const { act, waitMs = 0, untilFile, early, ...result } = stepOf(job)
  if (early !== undefined) await report(early)
  await sleep(waitMs)
  while (untilFile !== undefined && !existsSync(untilFile)) await sleep(20)
  if (act === 'hang') return new Promise(() => undefined)
  if (act === 'throw') throw new Error('as the script says')
  if (act === 'reject') void Promise.reject(new Error('as the script says'))
  if (act === 'crash')
    setImmediate(() => {
      throw new Error('as the script says')
    })
  return result.outcome === undefined ? { outcome: 'failed', code: 'internal-error' } : result
}

const logger = createLogger({ level: 'info' })
const end = processEnd(logger)
// A test that was cut off leaves nothing running for ever.
if (process.env.ENDS_BY_ITSELF) setTimeout(() => process.exit(99), 120_000).unref()
try {
  const settings = JSON.parse(process.env.SETTINGS)
  const resident = await startResident(settings, {
    table: openTable(settings, logger),
    enclave: () => ({ run }),
    program: { program: '0'.repeat(64), configuredAt: 0, mode: 'file-keys', signer: () => undefined },
    logger,
  })
  const exitCode = await end
  await resident.stop()
  process.exit(exitCode)
} catch (error) {
  process.stderr.write(`${error instanceof StateLockedError ? 'locked' : error.stack}\n`)
  process.exit(1)
}
