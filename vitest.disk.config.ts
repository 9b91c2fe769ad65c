// `npm run test:disk`: the stores on a disk that fails. Apart from `npm test`, as it needs fiu-run (Debian: fiu-utils) and the right to mount.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    name: 'disk',
    include: ['test/disk/*.test.ts'],
    reporters: process.env.CI
      ? ['default', ['json', { outputFile: process.env.TEST_RESULTS ?? 'data/disk-test-results.json' }]]
      : ['default'],
    testTimeout: 60_000,
    retry: 0,
  },
})
