import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { requireNode } from './src/service/version.js'

requireNode()

/** Tests of whole processes. */
const E2E = ['attacks', 'e2e', 'faults', 'fuzz'].map((folder) => `test/${folder}/**/*.test.ts`)
/** Mocks a module that others have loaded, so it needs a process of its own. */
const MOCKING = ['test/server/intake/orders.model.test.ts']
/** Tests that need a browser: three stories for each push, and all others. */
const BROWSER = ['desk', 'rulebook', 'ticket'].map((story) => `test/browser/${story}.test.ts`)
const ALL_BROWSER = 'test/browser/*.test.ts'
/** Needs fiu-run (Debian: fiu-utils) and the right to mount, so that `npm test` leaves it to `npm run test:disk`. */
const DISK = ['test/disk/*.test.ts']
/** What is long, or tests the tests: only the night has it (`npm run test:nightly`). */
const NIGHTLY = [
  'test/faults/{cluster,foundOut,nodes,verdicts}.test.ts',
  'test/e2e/{clientExample,firstTrade}.test.ts',
  'test/operate/deployedCode.test.ts',
  'test/server/store/fenceHoles.test.ts',
  'test/e2e/upgrade.test.ts',
  'test/firm/firm.test.ts',
  // Needs swtpm and tpm2-tools.
  'test/enclave/attested/nitroTpm.test.ts',
]
/** Test files at the same time. Most of them wait, for blocks, fills and retries: more than cores keep the cores at work. */
const WORKERS = availableParallelism() + 3
/** How long `expect.poll` tries. A busy machine can stall for longer than its default of a second. */
const POLL_MS = 20_000
/** How long a test or hook may take: it ends what hangs. A shared machine was seen to stop a worker, in the middle of a test, for 46 s. */
const TIMEOUT_MS = 300_000
/** Where CI finds the count: checks print after the tests. */
const outputFile = process.env.TEST_RESULTS ?? 'data/test-results.json'

/** Files that take more than half a minute. */
const LONG = [
  '/test/attacks/floods.test.ts',
  '/test/attacks/sharedRelayerKey.test.ts',
  '/test/broker/tradeUpdates.test.ts',
  '/test/browser/desk.test.ts',
  '/test/browser/ticket.test.ts',
  '/test/browser/wallets.test.ts',
  '/test/contracts/money.test.ts',
  '/test/e2e/cli.test.ts',
  '/test/e2e/confidentiality.test.ts',
  '/test/e2e/doctor.test.ts',
  '/test/e2e/sandbox.test.ts',
  '/test/e2e/servers.test.ts',
  '/test/enclave/besides.test.ts',
  '/test/enclave/late.test.ts',
  '/test/enclave/market.test.ts',
  '/test/enclave/mishaps/cancels.test.ts',
  '/test/enclave/mishaps/reclaims.test.ts',
  '/test/enclave/mishaps/refusals.test.ts',
  '/test/enclave/mishaps/trades.test.ts',
  '/test/enclave/resident/runs.test.ts',
  '/test/faults/cluster.test.ts',
  '/test/faults/foundOut.test.ts',
  '/test/faults/nodes.test.ts',
  '/test/faults/orders.test.ts',
  '/test/fuzz/fuzz.test.ts',
  '/test/server/intake/policy.test.ts',
  '/test/server/openapi/contract.test.ts',
  '/test/server/ops/readyz.test.ts',
  '/test/server/relay/servers.test.ts',
  '/test/server/relay/unbelieved.test.ts',
  '/test/server/store/postgres.test.ts',
  '/test/server/trigger/manyServers.test.ts',
  '/test/server/trigger/scheduler.test.ts',
  '/test/server/txManager/txManager.test.ts',
]

/**
 * Begins each project with what takes long, as the last file is waited for by itself. Vitest remembers how long a file took; in CI, where
 * it remembers nothing, it would begin with the largest, and a long test may be a short text. One project follows the other, because a
 * worker keeps its modules until it gets a file of another project; units come last, because they are the shortest.
 */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => LONG.some((name) => moduleId.endsWith(name))
    const sorted = await super.sort(files)
    const projects = [...new Set(sorted.map(({ project }) => project))]
    projects.sort((a, b) => Number(a.name === 'unit') - Number(b.name === 'unit'))
    return projects.flatMap((project) => {
      const own = sorted.filter((file) => file.project === project)
      return [...own.filter(isLong), ...own.filter((file) => !isLong(file))]
    })
  }
}

/** Whole sandboxes of real processes. */
const PROCESS_TESTS = {
  globalSetup: 'test/support/savedChains.ts',
  // What a scenario holds is closed with its file.
  isolate: false,
  testTimeout: TIMEOUT_MS,
  expect: { poll: { timeout: POLL_MS } },
  hookTimeout: TIMEOUT_MS,
  maxWorkers: WORKERS,
}
/** Need Chromium, so `npm test` leaves them to `npm run test:browser`. */
const BROWSER_TESTS = {
  ...PROCESS_TESTS,
  globalSetup: ['test/browser/support/findChromium.ts', 'test/support/savedChains.ts'],
  hookTimeout: 300_000,
}

export default defineConfig({
  test: {
    setupFiles: 'test/support/seed.ts',
    sequence: { sequencer: LongFirst },
    reporters: process.env.CI ? ['default', ['json', { outputFile }]] : ['default'],
    projects: [
      {
        test: {
          name: 'unit',
          globalSetup: ['test/support/builtPages.ts', 'test/support/savedChains.ts'],
          include: ['test/**/*.test.ts'],
          exclude: [...E2E, ...NIGHTLY, ALL_BROWSER, ...DISK, ...MOCKING],
          // A worker loads ethers and zod once, not for each file.
          isolate: false,
          testTimeout: TIMEOUT_MS,
          expect: { poll: { timeout: POLL_MS } },
          hookTimeout: TIMEOUT_MS,
          maxWorkers: WORKERS,
        },
      },
      {
        test: {
          name: 'mocking',
          include: MOCKING,
          testTimeout: TIMEOUT_MS,
          expect: { poll: { timeout: POLL_MS } },
          maxWorkers: WORKERS,
        },
      },
      { test: { ...PROCESS_TESTS, name: 'e2e', include: E2E, exclude: NIGHTLY } },
      { test: { ...PROCESS_TESTS, name: 'nightly', include: NIGHTLY } },
      { test: { ...BROWSER_TESTS, name: 'browser', include: BROWSER } },
      { test: { ...BROWSER_TESTS, name: 'nightly-browser', include: [ALL_BROWSER], exclude: BROWSER } },
      {
        test: { name: 'disk', include: DISK, testTimeout: TIMEOUT_MS, sequence: { groupOrder: 1 } },
      },
    ],
  },
})
