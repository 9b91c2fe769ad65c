import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

// Built to be served by anything that serves files: no asset comes from elsewhere, and nothing is inline, for the
// strict policy that the page is served with.
export default defineConfig({
  root: here('.'),
  // Under whatever path it is served.
  base: './',
  build: {
    outDir: here('../dist/web'),
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // In kB; ethers and zod are most of it.
    chunkSizeWarningLimit: 600,
  },
})
