// Actor: an attacker in the server that posts jobs to the enclave, with the secret that signs them. He has no right on the
// enclave's files.
// Cost: one job with a path of his choice.
// Effect: an earlier enclave wrote its result to any path in the job. A job that named the enclave's own configuration left
// `{"outcome":"failed"}` in the place of LEDGER_MASTER_KEY. Without a backup of that key the record of every balance is lost.
// Now: a job names no file, and the enclave refuses one that does. A run's id is no part of a path either. Results are posted.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { signRunMessage } from '../../src/protocol/runMessage.js'
import { orderJob, startResultServer, startTestResident } from '../support/residentHarness.js'
import { RUN_SECRET } from '../support/serverEnvironment.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

test('an enclave takes no path from a server, not even a signed one', async () => {
  const directory = await temporaryDirectory()
  const envFile = join(directory, 'enclave.env')
  await writeFile(envFile, 'LEDGER_MASTER_KEY=canary\n', { mode: 0o600 })
  const { url: serverUrl } = await startResultServer()
  const jobs: unknown[] = []
  const enclave = await startTestResident(
    async (taken) => {
      jobs.push(taken)
      return { outcome: 'done' }
    },
    { serverUrl, stateDirectory: join(directory, 'state') },
  )
  const job = await orderJob()
  const attempts = [
    { ...job, resultFile: envFile },
    { ...job, runId: '../../enclave.env' },
    { ...job, runId: `${job.runId}/../../../enclave` },
  ]
  for (const attempt of attempts) {
    const body = JSON.stringify(attempt)
    const response = await fetch(enclave.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...signRunMessage(RUN_SECRET, { kind: 'job', runId: attempt.runId, body }),
      },
      body,
    })
    expect([400, 401], body).toContain(response.status)
  }
  expect(jobs).toEqual([])
  expect((await readdir(directory)).sort()).toEqual(['enclave.env', 'state'])
  expect(await readFile(envFile, 'utf8')).toBe('LEDGER_MASTER_KEY=canary\n')
})
