import { randomUUID } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import type { Enclave } from '../../src/enclave/enclave.js'
import { openTable, type Resident, startResident } from '../../src/enclave/resident/resident.js'
import type { ResidentSettings } from '../../src/enclave/resident/settings.js'
import type { Job, PostedResult } from '../../src/protocol/job.js'
import { claimedRunMessage, isRunMessageSigned, signRunMessage } from '../../src/protocol/runMessage.js'
import { bytes32 } from './institution.js'
import { sealOrder } from './intakeServer.js'
import { createLogLines } from './logLines.js'
import { startRawServer } from './rawServer.js'
import { RUN_SECRET, SERVER_ENVIRONMENT } from './serverEnvironment.js'

/** Whose signatures its resident says that it gives. */
export const HARNESS_SIGNER = `0x${'5a'.repeat(20)}` as const

/** A notice or result that an enclave posted. */
export interface Posted {
  readonly kind: 'notice' | 'result'
  readonly runId: string
  /** By its signature; and it shows the relay's token, which the server's port asks for. */
  readonly isSigned: boolean
  readonly body: PostedResult
}

/** A server that only takes notices and results, answering with `answer(post)` each time: a status, or a reception. */
export async function startResultServer(answer: (post: Posted) => number | 'not-awaited' = () => 200) {
  const posts: Posted[] = []
  const url = await startRawServer((req, res) => {
    void buffer(req).then((bytes) => {
      const text = bytes.toString('utf8')
      const [, runId = '', path] = /^\/runs\/([0-9a-f-]{36})\/(notice|result)$/.exec(req.url ?? '') ?? []
      const kind = path === 'notice' ? 'notice' : 'result'
      const claimed = claimedRunMessage(kind, req.headers)
      const hasToken = req.headers.authorization === `Bearer ${SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN}`
      const isSigned = hasToken && claimed?.runId === runId && isRunMessageSigned(RUN_SECRET, claimed, text)
      const post = { kind, runId, isSigned, body: JSON.parse(text) } as const
      posts.push(post)
      const given = answer(post)
      const result = given === 'not-awaited' ? given : 'received'
      res.writeHead(typeof given === 'number' ? given : 200).end(JSON.stringify({ runId, result }))
    })
  })
  return { url, posts, results: () => posts.filter(({ kind }) => kind === 'result') }
}

/** A resident enclave in this process, on a free port, whose runs are the test's; stopped with its test at the latest. */
export async function startTestResident(
  run: Enclave['run'],
  settings: Pick<ResidentSettings, 'serverUrl' | 'stateDirectory'> & Partial<ResidentSettings>,
) {
  const { logger, text } = createLogLines()
  const whole = {
    listen: { host: '127.0.0.1', port: 0 },
    secret: RUN_SECRET,
    relayToken: SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN,
    maxRuns: 16,
    logLevel: 'info' as const,
    ...settings,
  }
  const enclave = { run }
  const resident: Resident = await startResident(whole, {
    table: openTable(whole, logger),
    enclave: () => enclave,
    program: { program: '0'.repeat(64), configuredAt: 0, mode: 'file-keys', signer: () => HARNESS_SIGNER },
    logger,
  })
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= resident.stop()
    return stopped
  }
  onTestFinished(stop)
  return { url: `http://127.0.0.1:${resident.port}`, stop, logText: text }
}

export async function orderJob(changes: { orderId?: `0x${string}`; seconds?: number } = {}): Promise<Job> {
  return {
    job: 'order',
    runId: randomUUID(),
    stopAt: Math.floor(Date.now() / 1_000) + (changes.seconds ?? 60),
    orderId: changes.orderId ?? bytes32('an order'),
    envelope: await sealOrder('secret'),
  }
}

/** Posts a job as the server does. */
export async function offer(url: string, job: Job, headers: Record<string, string> = {}) {
  const body = JSON.stringify(job)
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...signRunMessage(RUN_SECRET, { kind: 'job', runId: job.runId, body }),
      ...headers,
    },
    body,
  })
  const answer: unknown = await response.json()
  return { status: response.status, headers: response.headers, answer }
}
