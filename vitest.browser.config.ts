// `npm run test:browser`: what only a browser can tell. Apart from `npm test`, as it needs Chromium.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    name: 'browser',
    include: ['test/browser/*.test.ts'],
    globalSetup: 'test/browser/support/findChromium.ts',
    reporters: process.env.CI
      ? ['default', ['json', { outputFile: process.env.TEST_RESULTS ?? 'data/browser-test-results.json' }]]
      : ['default'],
    testTimeout: 180_000,
    hookTimeout: 300_000,
    // The parts of a file build on each other: a second try would begin after what the first one has done, and pass for another reason.
    retry: 0,
    bail: 1,
    // Each file has a browser and a sandbox of its own, and mostly waits for blocks.
    maxWorkers: 3,
  },
})
