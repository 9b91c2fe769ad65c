// The client and the page in the engines that people have: Chromium's, Firefox's and Safari's. A page acts by itself, and tells how it ended.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { build as bundle } from 'esbuild'
import express from 'express'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { publishDefaultRulebook } from '../../src/sandbox/demo.js'
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.js'
import { inputOf, root, vectors } from '../attestation/vectors.js'
import { startHttpServer } from '../support/httpServer.js'
import { QUICK } from '../support/tradingSandbox.js'
import { type BrowserName, startBrowser } from './support/programs.js'
import type { Given } from './support/stories.js'

const STORY = '<head><script type="module" src="/story.js"></script>'
const cleanUp = new AsyncDisposableStack()
let url: string
/** Resolves with what the next page tells. */
let nextTold: PromiseWithResolvers<unknown>

beforeAll(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'evergreen-'))
  cleanUp.defer(() => rm(directory, { recursive: true, force: true }))
  const app = express()
  const server = await startHttpServer(app)
  cleanUp.defer(() => server.stop())
  url = server.url
  const sandbox = await startSandbox({
    directory: join(directory, 'sandbox'),
    ports: { server: 0, rpc: 0, broker: 0, desk: 0 },
    blockTime: QUICK.blockTime,
    serverSettings: { ...QUICK.server, FRONTEND_ORIGIN: url },
    enclaveSettings: QUICK.enclave,
    print: () => undefined,
  })
  cleanUp.defer(() => sandbox.stop())
  await publishDefaultRulebook(sandbox)
  const starter = join(directory, 'starter')
  await buildStarter(sandbox, starter)
  app.get('/given', (_req, res) => res.json(given(sandbox)))
  app.get('/story.js', await story())
  app.post('/told', express.json({ type: '*/*' }), (req, res) => {
    nextTold.resolve(req.body)
    res.end()
  })
  app.get('/verifier/', (_req, res) => res.send(STORY))
  app.use('/starter', express.static(starter))
  // The page of the sandbox, which then has this server's origin.
  const { deskUrl = '' } = sandbox.info
  app.use(async (req, res) => {
    const answer = await fetch(`${deskUrl}${req.url}`)
    for (const name of ['content-type', 'content-security-policy'])
      res.set(name, answer.headers.get(name) ?? '')
    const text = await answer.text()
    res.status(answer.status).send(text.replaceAll(deskUrl, url).replace('<head>', STORY))
  })
})

afterAll(() => cleanUp.disposeAsync())

async function buildStarter({ info, secrets }: Sandbox, outDir: string): Promise<void> {
  vi.stubEnv('VITE_SERVER_URL', info.url)
  vi.stubEnv('VITE_ENCLAVE_KEY', secrets.intentPublicKey)
  vi.stubEnv('VITE_ESCROW', info.contracts.orderEscrow)
  await build({
    root: resolve('examples/starter'),
    base: './',
    logLevel: 'error',
    configFile: false,
    plugins: [{ name: 'story', transformIndexHtml: (html) => html.replace('<head>', STORY) }],
    build: { outDir, emptyOutDir: true, target: 'es2023' },
  })
  vi.unstubAllEnvs()
}

async function story(): Promise<express.RequestHandler> {
  const { outputFiles } = await bundle({
    entryPoints: ['test/browser/support/stories.ts'],
    bundle: true,
    format: 'esm',
    target: 'es2023',
    write: false,
  })
  return (_req, res) => res.type('js').send(outputFiles[0]?.text)
}

function given({ info, accounts }: Sandbox): Given {
  const [{ address }] = accounts.employees
  const { rpcUrl, chainId } = info
  return {
    wallet: { name: 'Wallet', address, rpcUrl, chainId, refuses: [], isPlain: true },
    judgings: vectors.map((vector) => ({
      root: vector.root ?? root,
      origin: vector.origin,
      ...inputOf(vector),
    })),
  }
}

/** What a page tells at last in that browser. */
async function toldIn(browser: BrowserName, path: string): Promise<unknown> {
  nextTold = Promise.withResolvers()
  await startBrowser(browser, `${url}${path}`)
  return nextTold.promise
}

it.each(['Chromium', 'Firefox', 'WebKit'] as const)(
  'the starter buys with a wallet in %s',
  async (browser) => {
    expect(await toldIn(browser, '/starter/')).toEqual({ told: expect.stringMatching(/^AAPL \d+\.\d+$/) })
  },
)

describe.each([
  ['Firefox', '500'],
  ['WebKit', '600'],
] as const)('%s', (browser, usdc) => {
  it('judges every vector of attestation as Node does', async () => {
    const judged = vectors.map(({ outcome, code }) => ({ outcome, code }))
    expect(await toldIn(browser, '/verifier/')).toEqual({ told: judged })
  })

  it('trades on the page, and shows the fill', async () => {
    const told = expect.stringMatching(`^Bought 2\\.\\d+ AAPL at \\d+\\.\\d\\d, ${usdc}\\.00 USDC$`)
    expect(await toldIn(browser, `/?usdc=${usdc}`)).toEqual({ told })
  })
})
