// Preloaded into the enclave, so the enclave needs no code for the storm. It leaves notes of the runs, and kills or stops the process
// at the planned steps.
import { subscribe } from 'node:diagnostics_channel'
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createActs, stepClock, stepRequests } from './steps.mjs'

const { FAULTS_BENCH: bench, FAULTS_BENCH_PID } = process.env
const WATCH_MS = 1_000
const ENDS = ['OrderSettlement', 'OrderRefund']
/** By runId: the runs that this process has under way. Only those of orders have an account, steps and events. */
const underWay = new Map()

/** Unix milliseconds by a clock that nothing sets. */
const now = () => performance.timeOrigin + performance.now()

/** Every event is one byte, so that a file's size is their count. */
function tell(event) {
  appendFileSync(join(bench, event), '.')
}

function die() {
  const runs = [...underWay].map(([runId, { job, orderId, startedAt }]) => ({
    runId,
    job,
    orderId,
    startedAt,
  }))
  appendFileSync(join(bench, 'deaths'), `${JSON.stringify({ at: now(), runs })}\n`)
  process.kill(process.pid, 'SIGKILL')
}

const reached = createActs(join(bench, 'enclave'), die)

/**
 * An account has one run at a time: a server that offers another one has lost the first. A repeated offer of an ended run is none: a server
 * that was stopped before its offer sends it late, and the enclave begins nothing.
 */
function watchOffer({ runId, job, orderId }) {
  const account = accountOf(orderId)
  for (const [otherId, other] of underWay) {
    if (otherId === runId || account === undefined || other.account !== account) continue
    const line = `${orderId} was offered beside ${other.orderId}, both of ${account}\n`
    appendFileSync(join(bench, 'overlaps'), line)
  }
  return { job, orderId, account, startedAt: now() }
}

function accountOf(orderId) {
  return orderId && readFileSync(join(bench, 'accounts', orderId), 'utf8')
}

/** Every run of an order, and whether it began with a cancel. */
function noteJob({ runId, orderId, cancel }) {
  const note = { at: now(), runId, orderId, hasCancel: cancel !== undefined }
  appendFileSync(join(bench, 'jobs'), `${JSON.stringify(note)}\n`)
}

/** A job is noted when its answer is on its way. */
function watchJob({ request, response }) {
  if (request.method !== 'POST') return
  const chunks = []
  const { push } = request
  request.push = (chunk, ...rest) => {
    if (chunk !== null) chunks.push(chunk)
    return push.call(request, chunk, ...rest)
  }
  const { end } = response
  response.end = (...args) => {
    const isAccepted = response.statusCode === 202 && JSON.parse(args[0]).result === 'accepted'
    // A stranger's body is not read, and is no job.
    if (isAccepted || response.statusCode === 409) {
      const job = JSON.parse(Buffer.concat(chunks).toString('utf8'))
      const run = watchOffer(job)
      if (isAccepted) {
        underWay.set(job.runId, run)
        if (run.account !== undefined) {
          tell('started')
          noteJob(job)
          reached('noted')
          response.once('finish', () => {
            reached('taken')
            reached('later')
          })
        }
      }
    }
    return end.apply(response, args)
  }
}
subscribe('http.server.request.start', watchJob)

function stepsOf(sent, body) {
  const { path } = sent
  const [, runId] = /^\/runs\/([^/]+)\/result$/.exec(path) ?? []
  if (runId !== undefined) watchResult(runId, body, sent)
  if (path === '/v2/orders') return { before: 'before-send', after: 'after-send' }
  if (path !== '/relay') return {}
  const { primaryType } = JSON.parse(body)
  if (primaryType === 'PortfolioUpdate') return { before: 'before-write-ahead', after: 'after-write-ahead' }
  return ENDS.includes(primaryType) ? { before: 'before-end', after: 'after-end' } : {}
}

/** A run has ended when its result is posted, before its first try. That of an earlier boot ends by the server's answer. */
function watchResult(runId, body, sent) {
  const run = underWay.get(runId)
  underWay.delete(runId)
  if (run?.account !== undefined) {
    reached('before-result')
  } else if (run === undefined && JSON.parse(body).code === 'enclave-restarted') {
    sent.once('response', ({ statusCode }) => {
      if (statusCode === 200) tell('restarted')
    })
  }
}

stepRequests(stepsOf, reached)

/** The enclave outlives its server, but not the storm. */
function endWithBench() {
  try {
    process.kill(Number(FAULTS_BENCH_PID), 0)
  } catch {
    process.kill(process.pid, 'SIGKILL')
  }
}
setInterval(endWithBench, WATCH_MS).unref()
stepClock(join(bench, 'clock'))
