// The starter of examples/starter: built by Vite, and traded with, as a new frontend's first page. test/client/package.test.ts compiles it.
import { readFile } from 'node:fs/promises'
import { extname, join, resolve } from 'node:path'
import { build } from 'vite'
import { afterEach, expect, it, vi } from 'vitest'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { useBrowserDesk } from './support/desk.js'
import { installExtension } from './support/extension.js'

const desk = useBrowserDesk()
const STARTER = resolve('examples/starter')
const TYPES = new Map([
  ['.html', 'text/html'],
  ['.js', 'text/javascript'],
])

afterEach(() => {
  vi.unstubAllEnvs()
})

it('buys with a browser’s wallet, and shows the position', async () => {
  const { info } = desk().sandbox
  const { intentPublicKey: key } = desk().sandbox.secrets
  const outDir = await temporaryDirectory()
  const settings = {
    VITE_SERVER_URL: info.url,
    VITE_ENCLAVE_KEY: key,
    VITE_ESCROW: info.contracts.orderEscrow,
  }
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value)
  await build({
    root: STARTER,
    base: './',
    logLevel: 'error',
    configFile: false,
    build: { outDir, emptyOutDir: true, target: 'es2023' },
  })
  const page = await desk().visit('about:blank')
  // The server lets in one origin alone, the desk's.
  await page.route(`${desk().url}/**`, async (route) => {
    const { pathname } = new URL(route.request().url())
    const file = pathname === '/' ? '/index.html' : pathname
    const body = await readFile(join(outDir, file)).catch(() => null)
    if (body === null) await route.fulfill({ status: 404 })
    else await route.fulfill({ body, contentType: TYPES.get(extname(file)) ?? 'text/plain' })
  })
  // Chromium takes a page that the test answers for one from elsewhere, which may not call this machine.
  await page.context().grantPermissions(['local-network-access'])
  const [employee] = desk().sandbox.accounts.employees
  const { rpcUrl, chainId } = info
  const wallet = { name: 'Wallet', address: employee.address, rpcUrl, chainId, refuses: [], isPlain: true }
  await installExtension(page, wallet)
  await page.goto(desk().url)
  await page.getByRole('button', { name: 'Buy' }).click()
  await expect.poll(() => page.getByRole('status').textContent(), { timeout: 45_000 }).toBe('SETTLED')
  await page.locator('pre', { hasText: /^AAPL \d+\.\d+$/ }).waitFor()
})
