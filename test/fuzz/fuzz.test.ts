import { expect, test } from 'vitest'
import { startStandIn } from '../support/brokerStandIn.js'
import { startTestChain } from '../support/chain.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { runFuzzer } from './support/bench.js'
import { startFuzzedServer } from './support/fuzzedServer.js'

// The short form. `npm run test:soak -- fuzz` is the long one.
const REQUESTS = 2_000

test('every answer, to right requests and wrong ones, is a documented one', async () => {
  const directory = await temporaryDirectory()
  const report = await runFuzzer({
    seed: 7,
    requests: REQUESTS,
    rounds: 2,
    directory,
    print: () => undefined,
  })
  expect(report.violations.join('\n')).toBe('')
  const seen = Object.keys(report.answers)
  expect(seen).toEqual(
    expect.arrayContaining([
      '200',
      '202',
      '400 malformed-request',
      '401 run-unauthorized',
      '422 would-revert',
      '429 too-many-waiting',
      '503 intake-full',
      'enclave 202',
      'enclave 400 invalid-body',
      'enclave 422 run-too-late',
    ]),
  )
})

test('a server that is gone is reported with how it ended, and its last words', async ({
  onTestFinished,
}) => {
  const [chain, broker] = await Promise.all([startTestChain(), startStandIn()])
  onTestFinished(() => Promise.all([chain.stop(), broker.stop()]).then(() => undefined))
  const directory = await temporaryDirectory()
  const server = await startFuzzedServer({ chain, brokerUrl: broker.url, enclavePort: 9, directory })
  process.kill(server.pid, 'SIGKILL')
  expect(await server.held()).toBeUndefined()
  expect(server.faults).toEqual([expect.stringMatching(/ended by itself: .*SIGKILL.*\n.*"msg":"listening"/s)])
})
