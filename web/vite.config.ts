import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

// Any static file server can serve the build: no asset is external and none is inline, as the page's strict CSP
// requires.
// `--mode sandbox` builds the sandbox's page, which alone accepts evidence of the stand-in of its device.
export default defineConfig(({ mode }) => ({
  define: { IS_SANDBOX: JSON.stringify(mode === 'sandbox') },
  root: here('.'),
  // Relative, so that the page works under any path.
  base: './',
  build: {
    outDir: here(mode === 'sandbox' ? '../dist/sandbox/web' : '../dist/web'),
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
}))
