import { expect, test } from 'vitest'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { runFuzzer } from './support/bench.js'

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
  expect(report.violations).toEqual([])
  const seen = Object.keys(report.answers)
  expect(seen).toEqual(expect.arrayContaining(['200', '202', '400 malformed-request', '422 would-revert']))
})
