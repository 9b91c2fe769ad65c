import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { requireNode } from './src/service/version.js'

requireNode()

/** Tests of whole processes. */
const E2E = [
  'test/attacks/**/*.test.ts',
  'test/e2e/**/*.test.ts',
  'test/faults/**/*.test.ts',
  'test/fuzz/fuzz.test.ts',
]
/** Mocks a module that others have loaded, so it needs a process of its own. */
const MOCKING = ['test/server/intake/orders.model.test.ts']
/** Those have commands of their own: vitest.browser.config.ts, vitest.disk.config.ts. */
const OWN_COMMANDS = ['test/browser/*.test.ts', 'test/disk/*.test.ts']
// CI's machine is shared and noisy: what fails there is tried once more. Not so in test/faults, whose tests say so themselves: what goes
// wrong in one run of two is what they look for.
const retry = process.env.CI ? 1 : 0
/** Where CI finds the count: checks print after the tests. */
const outputFile = process.env.TEST_RESULTS ?? 'data/test-results.json'

/** What takes more than half a minute. */
const LONG = [
  '/test/enclave/besides.test.ts',
  '/test/enclave/late.test.ts',
  '/test/enclave/mishaps/cancels.test.ts',
  '/test/enclave/mishaps/reclaims.test.ts',
  '/test/enclave/mishaps/refusals.test.ts',
  '/test/enclave/mishaps/trades.test.ts',
  '/test/server/ops/readyz.test.ts',
  '/test/server/relay/unbelieved.test.ts',
  '/test/server/trigger/scheduler.test.ts',
  '/test/e2e/cli.test.ts',
  '/test/e2e/confidentiality.test.ts',
  '/test/e2e/doctor.test.ts',
  '/test/e2e/lostRun.test.ts',
  '/test/e2e/market.test.ts',
  '/test/e2e/manyOrders.test.ts',
  '/test/e2e/remoteEnclave.test.ts',
  '/test/e2e/sandbox.test.ts',
  '/test/e2e/servers.test.ts',
  '/test/e2e/unrulyEnclave.test.ts',
  '/test/faults/cluster/cluster.test.ts',
  '/test/faults/cluster/foundOut.test.ts',
  '/test/faults/orders/foundOut.test.ts',
  '/test/faults/orders/orders.test.ts',
  '/test/fuzz/fuzz.test.ts',
]

/**
 * Begins with what takes long, as the last file is waited for by itself. Vitest remembers how long a file took; in CI, where
 * it remembers nothing, it would begin with the largest, and a long test may be a short text.
 */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => LONG.some((name) => moduleId.endsWith(name))
    const sorted = await super.sort(files)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongFirst },
    reporters: process.env.CI ? ['default', ['json', { outputFile }]] : ['default'],
    projects: [
      {
        // Many of these wait for a chain's blocks: two more of them than cores keep the cores at work.
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...E2E, ...OWN_COMMANDS, ...MOCKING],
          // A worker loads ethers and zod once, not for each file.
          isolate: false,
          retry,
          testTimeout: 30_000,
          hookTimeout: 60_000,
          maxWorkers: availableParallelism() + 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'mocking',
          include: MOCKING,
          retry,
          testTimeout: 30_000,
          maxWorkers: availableParallelism() + 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Whole sandboxes of real processes. A scenario mostly waits, for blocks, fills and retries: more of them than cores.
        test: {
          name: 'e2e',
          include: E2E,
          retry,
          testTimeout: 180_000,
          hookTimeout: 180_000,
          maxWorkers: 5,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
