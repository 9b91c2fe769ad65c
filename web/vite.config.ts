import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

// Any static file server can serve the build: no asset is external and none is inline, as the page's strict CSP
// requires.
export default defineConfig({
  root: here('.'),
  // Relative, so that the page works under any path.
  base: './',
  build: {
    outDir: here('../dist/web'),
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
})
