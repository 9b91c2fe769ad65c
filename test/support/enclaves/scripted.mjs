// An enclave that does as its script says. Beside ENCLAVE_ENV_FILE it notes every job, and takes from a plan
// `<env file>.plan.json`, an object by job or orderId of lists of steps, the step for this run: the last one repeats.
// A step: {outcome, ...result, waitMs?, untilFile?, early?, exit?, act?: 'hang' | 'babble' | 'garbage' | 'fork'}
import { spawn } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const envFile = process.env.ENCLAVE_ENV_FILE
let text = ''
for await (const part of process.stdin) text += part
const job = JSON.parse(text)
const log = `${envFile}.log`

function note(event, more = {}) {
  const line = { event, at: Date.now(), pid: process.pid, runId: job.runId, ...more }
  appendFileSync(log, `${JSON.stringify(line)}\n`)
}

function readPlan() {
  return existsSync(`${envFile}.plan.json`) ? JSON.parse(readFileSync(`${envFile}.plan.json`, 'utf8')) : {}
}

function stepOf() {
  const key = job.orderId ?? job.job
  const plan = readPlan()
  const steps = plan[key] ?? plan.any ?? [{ outcome: 'placed', retryAt: 4_000_000_000 }]
  const before = readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ event, key: of }) => event === 'started' && of === key).length
  return steps[Math.min(before - 1, steps.length - 1)]
}

function leave(result) {
  writeFileSync(`${job.resultFile}.part`, typeof result === 'string' ? result : JSON.stringify(result))
  renameSync(`${job.resultFile}.part`, job.resultFile)
}

// A test that was cut off leaves nothing running for ever.
setTimeout(() => process.exit(99), 120_000).unref()
note('started', { key: job.orderId ?? job.job, job, argv: process.argv.slice(2), env: process.env })
process.on('SIGTERM', () => note('SIGTERM'))
const { act, waitMs = 0, untilFile, exit = 0, early, ...result } = stepOf()
if (early !== undefined) leave(early)
await sleep(waitMs)
while (untilFile !== undefined && !existsSync(untilFile)) await sleep(20)
if (act === 'hang') setInterval(() => undefined, 1_000)
else if (act === 'garbage') leave('{"outcome": "settled"')
else if (act === 'fork') {
  spawn(process.execPath, ['-e', 'setTimeout(() => undefined, 60_000)', job.runId], {
    stdio: 'ignore',
  }).unref()
  leave(result)
  process.exit(exit)
} else {
  if (act === 'babble') for (let i = 0; i < 2_000; i++) process.stdout.write(`${'x'.repeat(1_000)}\n`)
  if (result.outcome !== undefined) leave(result)
  note('ended')
  process.exitCode = exit
}
