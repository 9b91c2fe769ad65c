// Preloaded into the enclave, so the enclave needs no code for the storm. It leaves notes of the runs, and kills or stops the process
// at the planned steps.
import { subscribe } from 'node:diagnostics_channel'
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createActs, stepClock, stepRequests } from './steps.mjs'

const { FAULTS_BENCH: bench, FAULTS_BENCH_PID } = process.env
const WATCH_MS = 1_000
const ENDS = ['OrderSettlement', 'OrderRefund']
/** By runId: the runs that this process has under way. Only those of orders have an account and steps. */
const underWay = new Map()

const reached = createActs(join(bench, 'enclave'))

/**
 * An account has one run at a time: a server that offers another one has lost the first. A repeated offer of an ended run is none: a server
 * that was stopped before its offer sends it late, and the enclave begins nothing.
 */
function watchOffer({ runId, orderId }) {
  const account = accountOf(orderId)
  for (const [otherId, other] of underWay) {
    if (otherId === runId || account === undefined || other.account !== account) continue
    const line = `${orderId} was offered beside ${other.orderId}, both of ${account}\n`
    appendFileSync(join(bench, 'overlaps'), line)
  }
  return { orderId, account }
}

function accountOf(orderId) {
  return orderId && readFileSync(join(bench, 'accounts', orderId), 'utf8')
}

/** A job is taken when its answer is on its way. */
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
  if (runId !== undefined) {
    // A run has ended when its result is posted, before its first try.
    if (underWay.get(runId)?.account !== undefined) reached('before-result')
    underWay.delete(runId)
  }
  if (path === '/v2/orders') return { before: 'before-send', after: 'after-send' }
  if (path !== '/relay') return {}
  const { primaryType } = JSON.parse(body)
  if (primaryType === 'PortfolioUpdate') return { before: 'before-write-ahead', after: 'after-write-ahead' }
  return ENDS.includes(primaryType) ? { before: 'before-end', after: 'after-end' } : {}
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
