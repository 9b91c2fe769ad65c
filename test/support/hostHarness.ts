import { randomUUID } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { readConfig } from '../../src/host/config.js'
import { type RunningHost, startHost } from '../../src/host/host.js'
import type { RemoteJob, RunResult } from '../../src/protocol/job.js'
import { claimedRunMessage, isRunMessageSigned, signRunMessage } from '../../src/protocol/runMessage.js'
import { bytes32 } from './institution.js'
import { sealOrder } from './intakeServer.js'
import { createLogLines } from './logLines.js'
import { startRawServer } from './rawServer.js'
import type { ScriptedEnclave } from './scriptedEnclave.js'
import { RUN_SECRET } from './serverEnvironment.js'

/** A result that a host posted. */
export interface PostedResult {
  readonly runId: string
  readonly isSigned: boolean
  readonly result: RunResult
}

/** A server that only takes results, answering with `status()` each time. */
export async function startResultServer(status: () => number = () => 200) {
  const posts: PostedResult[] = []
  const url = await startRawServer((req, res) => {
    void buffer(req).then((bytes) => {
      const body = bytes.toString('utf8')
      const claimed = claimedRunMessage('result', req.headers)
      const runId = /^\/runs\/([0-9a-f-]{36})\/result$/.exec(req.url ?? '')?.[1] ?? ''
      const isSigned = claimed?.runId === runId && isRunMessageSigned(RUN_SECRET, claimed, body)
      posts.push({ runId, isSigned, result: JSON.parse(body) })
      res.writeHead(status()).end()
    })
  })
  return { url, posts }
}

/** A real host on a free port, stopped with its test at the latest. */
export async function startTestHost(
  enclave: ScriptedEnclave,
  env: { SERVER_URL: string; DATA_DIR: string } & Record<string, string>,
) {
  const { logger, text } = createLogLines()
  const config = readConfig({
    PORT: '0',
    ENCLAVE_TRIGGER_SECRET: RUN_SECRET,
    ENCLAVE_COMMAND: JSON.stringify(enclave.command),
    ENCLAVE_ENV_FILE: enclave.envFile,
    ...env,
  })
  const host: RunningHost = await startHost(config, logger)
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= host.stop()
    return stopped
  }
  onTestFinished(stop)
  return { url: `http://127.0.0.1:${host.port}`, stop, logText: text }
}

export async function orderJob(
  changes: { orderId?: `0x${string}`; seconds?: number } = {},
): Promise<RemoteJob> {
  return {
    job: 'order',
    runId: randomUUID(),
    stopAt: Math.floor(Date.now() / 1_000) + (changes.seconds ?? 60),
    orderId: changes.orderId ?? bytes32('an order'),
    envelope: await sealOrder('secret'),
  }
}

/** Posts a job as the server does. */
export async function offer(url: string, job: RemoteJob, headers: Record<string, string> = {}) {
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
  return { status: response.status, answer }
}
