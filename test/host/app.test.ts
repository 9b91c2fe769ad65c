import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../../src/host/config.js'
import { signRunMessage } from '../../src/protocol/runMessage.js'
import { ConfigError, type Environment } from '../../src/server/config.js'
import { DirectoryLockedError } from '../../src/server/store/directoryLock.js'
import { offer, orderJob, startResultServer, startTestHost } from '../support/hostHarness.js'
import { createScriptedEnclave } from '../support/scriptedEnclave.js'
import { RUN_SECRET } from '../support/serverEnvironment.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

async function setUp() {
  const directory = await temporaryDirectory()
  const enclave = createScriptedEnclave(directory)
  const { url } = await startResultServer()
  const env = { SERVER_URL: url, DATA_DIR: `${directory}/data` }
  return { enclave, env, host: await startTestHost(enclave, env) }
}

const OTHER_SECRET = `whsec_${Buffer.alloc(32, 8).toString('base64')}`

describe('POST /', () => {
  test.each<[string, (body: string, runId: string) => Record<string, string>]>([
    ['by another key', (body, runId) => signRunMessage(OTHER_SECRET, { kind: 'job', runId, body })],
    [
      'of another body',
      (body, runId) => signRunMessage(RUN_SECRET, { kind: 'job', runId, body: `${body} ` }),
    ],
    ['of another run', (body) => signRunMessage(RUN_SECRET, { kind: 'job', runId: randomUUID(), body })],
    ['of a result', (body, runId) => signRunMessage(RUN_SECRET, { kind: 'result', runId, body })],
    [
      'that is stale',
      (body, runId) =>
        signRunMessage(RUN_SECRET, { kind: 'job', runId, body }, new Date(Date.now() - 302_000)),
    ],
    [
      'from ahead of its clock',
      (body, runId) =>
        signRunMessage(RUN_SECRET, { kind: 'job', runId, body }, new Date(Date.now() + 30_000)),
    ],
  ])('starts nothing for a signature %s', async (_what, sign) => {
    const { host, enclave } = await setUp()
    const job = await orderJob()
    const answer = await offer(host.url, job, sign(JSON.stringify(job), job.runId))
    expect(answer).toMatchObject({ status: 401, answer: { code: 'run-unauthorized' } })
    expect(await enclave.jobs()).toEqual([])
    expect((await offer(host.url, job)).answer).toEqual({ runId: job.runId, result: 'accepted' })
  })

  test('takes no job that names a file of the host', async () => {
    const { host, enclave } = await setUp()
    const job = { ...(await orderJob()), resultFile: '/etc/passwd' }
    expect(await offer(host.url, job)).toMatchObject({ status: 400, answer: { code: 'invalid-body' } })
    expect(await enclave.jobs()).toEqual([])
  })
})

test('the host answers probes, and has nothing else', async () => {
  const { host, env, enclave } = await setUp()
  const health = await fetch(`${host.url}/health`)
  expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }])
  expect((await fetch(`${host.url}/runs`)).status).toBe(404)
  expect((await fetch(`${host.url}/HEALTH`)).status).toBe(404)
  expect((await fetch(host.url)).status).toBe(405)
  await expect(startTestHost(enclave, env)).rejects.toThrow(DirectoryLockedError)
})

describe('the configuration', () => {
  const env = { SERVER_URL: 'https://server.example', ENCLAVE_TRIGGER_SECRET: RUN_SECRET }

  function faultsOf(environment: Environment): Record<string, string> {
    try {
      readConfig(environment)
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      return Object.fromEntries(error.faults.map(({ name, problem }) => [name, problem]))
    }
    return {}
  }

  test('needs a server and a secret, and listens on this machine alone unless it is told', () => {
    expect(Object.keys(faultsOf({})).sort()).toEqual(['ENCLAVE_TRIGGER_SECRET', 'SERVER_URL'])
    expect(readConfig(env).http).toMatchObject({ host: '127.0.0.1', port: 8_700 })
    expect(JSON.stringify(readConfig(env))).not.toContain(RUN_SECRET)
  })

  test('has no server that anybody could pass for', () => {
    expect(Object.keys(faultsOf({ ...env, SERVER_URL: 'http://server.example' }))).toEqual(['SERVER_URL'])
    expect(faultsOf({ ...env, NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toEqual({
      NODE_TLS_REJECT_UNAUTHORIZED: 'lets anybody pass for the server',
    })
  })
})
