import { defineConfig } from 'vitest/config'

const E2E = ['test/e2e/**/*.test.ts']

export default defineConfig({
  test: {
    // In CI the count is read from a file: checks print after the tests.
    reporters: process.env.CI ? ['default', ['json', { outputFile: 'data/test-results.json' }]] : ['default'],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: E2E,
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
          testTimeout: 180_000,
          hookTimeout: 180_000,
          maxWorkers: 4,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
