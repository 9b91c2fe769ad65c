import { defineConfig } from 'vitest/config'

/** Tests of whole processes. */
const E2E = ['test/e2e/**/*.test.ts', 'test/faults/**/*.test.ts', 'test/fuzz/fuzz.test.ts']
/** Those have a command of their own, vitest.browser.config.ts. */
const BROWSER = 'test/browser/*.test.ts'
// CI's machine is shared and noisy: what fails there is tried once more.
const retry = process.env.CI ? 1 : 0

export default defineConfig({
  test: {
    // In CI the count is read from a file: checks print after the tests.
    reporters: process.env.CI ? ['default', ['json', { outputFile: 'data/test-results.json' }]] : ['default'],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...E2E, BROWSER],
          retry,
          testTimeout: 30_000,
          hookTimeout: 60_000,
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
          maxWorkers: 4,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
