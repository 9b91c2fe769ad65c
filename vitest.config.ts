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
const BROWSER = ['attestation', 'desk', 'rulebook'].map((story) => `test/browser/${story}.test.ts`)
const ALL_BROWSER = 'test/browser/*.test.ts'
/** Needs fiu-run (Debian: fiu-utils) and the right to mount, so that `npm test` leaves it to `npm run test:disk`. */
const DISK = ['test/disk/*.test.ts']
/**
 * The night's (`npm run test:nightly`): what is long, or tests the tests. Two cores run the others in ten minutes. A push keeps every file of a
 * part that takes a second or two of CPU, and of the longer ones those that show that each program starts and does its work.
 */
const NIGHTLY = [
  // Storms, a firm's day, tests of tests, pages that are typed from a clone.
  'test/faults/{cluster,nodes,verdicts}.test.ts',
  'test/firm/firm.test.ts',
  'test/operate/deployedCode.test.ts',
  // Needs swtpm and tpm2-tools.
  'test/enclave/attested/nitroTpm.test.ts',
  // Stories of the whole platform, ten seconds of CPU each.
  'test/attacks/{exactFill,junkRulebooks,liftedRules,ownInstitution,phishedKey,readableSecrets,refusedSales,replacedEscrow}.test.ts',
  'test/attacks/{roundedBooks,sequentialMempool,sharedRelayerKey,spentBudget,takenPrefix,twoDeployments,unreadableOrder}.test.ts',
  'test/e2e/{attested*,cliHistory,cliOrders,clientExample,doctor,dstackEnclave,firstTrade}.test.ts',
  'test/e2e/{longRulebook,lostWallet,ownEnclave,resolve,sandboxKilled,upgrade}.test.ts',
  // A failure at each call, a kill at each step, many orders of one symbol.
  'test/enclave/{besides,conflict,corporateActions,late,traffic,turns}.test.ts',
  'test/enclave/mishaps/*.test.ts',
  'test/enclave/resident/boots.test.ts',
  'test/client/killed.test.ts',
  'test/service/version.test.ts',
  // Several servers, and nodes or databases that fail them.
  'test/server/relay/{largest,receipts,unbelieved,unestimated}.test.ts',
  'test/server/store/{leaseHolder,standby}.test.ts',
  'test/server/trigger/{manyServers,silentEnclave}.test.ts',
  // Long lists and a long past.
  'test/client/{lists,prompts}.test.ts',
  'test/client/history/{enclave,year}.test.ts',
  'test/server/timeline/timeline.test.ts',
  // Builds twice.
  'test/enclave/bundle.test.ts',
]
/** Test files at the same time. Most of them wait, for blocks, fills and retries: more than cores keep the cores at work. */
const WORKERS = availableParallelism() + 3
/**
 * How long `expect.poll` tries. A shared machine was seen to stop a worker, in the middle of a test, for 46 s. Planted faults are found sooner
 * with less.
 */
const POLL_MS = Number(process.env.POLL_MS ?? 120_000)
/** How long a test or hook may take: it ends what hangs. */
const TIMEOUT_MS = 300_000
/** Where CI finds the count: checks print after the tests. */
const outputFile = process.env.TEST_RESULTS ?? 'data/test-results.json'

/** Files that take more than a quarter of a minute of CPU, or wait for long. */
const LONG = [
  '/test/browser/desk.test.ts',
  '/test/browser/rulebook.test.ts',
  '/test/e2e/cli.test.ts',
  '/test/e2e/confidentiality.test.ts',
  '/test/e2e/sandbox.test.ts',
  '/test/faults/cluster.test.ts',
  '/test/faults/nodes.test.ts',
  '/test/faults/orders.test.ts',
  '/test/firm/firm.test.ts',
  '/test/fuzz/fuzz.test.ts',
  '/test/server/intake/orders.test.ts',
  '/test/server/main.test.ts',
  '/test/server/openapi/contract.test.ts',
  '/test/server/ops/readyz.test.ts',
  '/test/server/store/postgres.test.ts',
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

const PAGES_AND_CHAINS = ['test/support/builtPages.ts', 'test/support/savedChains.ts']
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
          globalSetup: PAGES_AND_CHAINS,
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
      { test: { ...PROCESS_TESTS, globalSetup: PAGES_AND_CHAINS, name: 'nightly', include: NIGHTLY } },
      { test: { ...BROWSER_TESTS, name: 'browser', include: BROWSER } },
      { test: { ...BROWSER_TESTS, name: 'nightly-browser', include: [ALL_BROWSER], exclude: BROWSER } },
      {
        test: { name: 'disk', include: DISK, testTimeout: TIMEOUT_MS, sequence: { groupOrder: 1 } },
      },
    ],
  },
})
