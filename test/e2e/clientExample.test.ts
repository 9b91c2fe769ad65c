// Every example of docs/client.md and of the client's public functions, as it stands there: in a project of its own, compiled, and run
// against the sandbox. test/browser/evergreen.test.ts runs the starter.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it, vi } from 'vitest'
import * as z from 'zod'
import { getHistory } from '../../src/client/history.js'
import {
  type Client,
  createPast,
  type Eip1193Provider,
  formatDecimal,
  type SealedOrder,
  SHARE_DECIMALS,
} from '../../src/client/index.js'
import type { SandboxAccount } from '../../src/sandbox/accounts.js'
import { clientOf } from '../../src/sandbox/demo.js'
import { pageExamples, sourceExamples, writeExamples } from '../client/package/examples.js'
import { run as runFile, useInstalledPackage } from '../client/package/installed.js'
import { compile } from '../client/package/typeScript.js'
import { startProgram } from '../support/program.js'
import { useDesk } from './support/desk.js'

const MOST_LINES = 30
/** The examples read a file and the environment, so their compiler must know Node. */
const types = ['node']

const desk = useDesk()
const installed = useInstalledPackage(['@types/node', 'viem'])

const functionsSchema = z.record(
  z.string(),
  z.custom<() => Promise<unknown>>((value) => typeof value === 'function'),
)

let building: Promise<string> | undefined

/** Compiles every example once, for the sandbox's server. @returns where they are */
function compiled(): Promise<string> {
  building ??= compileAll()
  return building
}

async function compileAll(): Promise<string> {
  const { project } = installed()
  const files = await writeExamples(installed(), desk().sandbox.info.url)
  expect(await compile(project, files, { resolution: 'nodenext', types, outDir: '.' })).toBe('')
  return project
}

it('the first example compiles, trades and prints the portfolio', async () => {
  const [text = ''] = await pageExamples()
  expect(text.split('\n').filter((line) => line !== '').length).toBeLessThanOrEqual(MOST_LINES)
  const project = await compiled()
  const { sandbox, traders } = desk()
  const keyFile = join(project, 'employee.key')
  await writeFile(keyFile, `${traders[0].account.privateKey}\n`, { mode: 0o600 })
  const program = startProgram(join(project, 'page0.js'), [], {
    cwd: project,
    // The nightly run sets the oldest Node that the package takes.
    node: process.env.CLIENT_NODE,
    env: {
      TRADING_SERVER_URL: sandbox.info.url,
      TRADING_RPC_URL: sandbox.info.rpcUrl,
      TRADING_KEY_FILE: keyFile,
    },
  })
  expect([await program.exit, program.err()]).toEqual([0, ''])
  const { positions } = await traders[0].portfolio()
  const lines = program.out().trimEnd().split('\n')
  expect(lines.at(-2)).toBe('SETTLED')
  expect(lines.at(-1)).toBe(`AAPL ${formatDecimal(positions.AAPL?.qty ?? 0n, SHARE_DECIMALS)}`)
})

/** An order that the wallet has signed, and that is not open. */
async function signedOrder(client: Client, deadline: number): Promise<SealedOrder> {
  const kept: SealedOrder[] = []
  const isKept = new Error('kept')
  const placing = client.placeOrder(
    { side: 'BUY', symbol: 'AAPL', usdc: 20_000_000n, deadline },
    {
      sponsored: true,
      beforeOpen(order) {
        kept.push(order)
        throw isKept
      },
    },
  )
  await expect(placing).rejects.toBe(isKept)
  const [order] = kept
  if (order === undefined) throw new Error('the order was not kept')
  return order
}

/** A browser's wallet with one account of the local chain. */
function browserWallet({ address }: SandboxAccount): Eip1193Provider {
  return {
    request: async ({ method, params = [] }) =>
      method === 'eth_requestAccounts'
        ? [address]
        : desk().sandbox.provider.send(method, Array.isArray(params) ? params : []),
  }
}

/** The names that the examples use. */
type Setting = Awaited<ReturnType<typeof settingOf>>

async function settingOf() {
  const { traders, sandbox } = desk()
  const [, { account, client, trade }] = traders
  const { orderId } = await trade({ side: 'BUY', symbol: 'AAPL', usdc: 50_000_000n })
  const { entries } = await getHistory(client, { fromBlock: 1 })
  const deadline = (await desk().chainTime()) + 3_600
  const { orgId } = await client.getWallet(account.address)
  if (orgId === null) throw new Error('the employee has no institution')
  const employees = Object.fromEntries(
    sandbox.accounts.employees.map(({ address }) => [
      address,
      { canBuy: true, canSell: true, restricted: [] },
    ]),
  )
  const { enclavePublicKey, escrow } = await client.getPlatform()
  return {
    ...{ client, account: account.address, orgId, orderId, deadline, entries },
    pins: { enclavePublicKey, escrow },
    order: await signedOrder(client, deadline),
    policy: { employees, maxOrderNotional: 25_000_000_000n, allowWithdrawShares: true },
    past: createPast(browserWallet(account), { escrow: sandbox.info.contracts.orderEscrow, fromBlock: 1 }),
    text: await client.drawKey(),
    store: { get: async () => undefined, set: async () => undefined },
    bytes: await client.sealForDevice('names', { [account.address]: 'Ada' }),
  }
}

/** The code that an example fails with; null for one that succeeds. */
async function codeOf(run: () => Promise<unknown>): Promise<string | null> {
  try {
    await run()
    return null
  } catch (error) {
    if (error instanceof Error && 'code' in error) return String(error.code)
    throw error
  }
}

it('every example of a function runs, and of the page', { timeout: 300_000 }, async () => {
  const project = await compiled()
  const load = async (file: string): Promise<unknown> => import(pathToFileURL(join(project, file)).href)
  const { sandbox, admin: dana } = desk()
  const { newcomer, owner, employees, brokerFunding } = sandbox.accounts
  const [ada, ben, cleo] = employees
  const common = await settingOf()
  const use = (values: Partial<Setting>) => {
    for (const [name, value] of Object.entries({ ...common, ...values })) vi.stubGlobal(name, value)
  }
  vi.stubGlobal('window', { ethereum: browserWallet(ben) })
  const noor = clientOf(sandbox, newcomer)
  const otto = clientOf(sandbox, owner)
  const copy = JSON.stringify(desk().rulebook.copy)
  /** Those that need another person or order than Ben and his, in this order; and the refusal that some end with. */
  const steps: readonly (readonly [name: string, values: () => Promise<Partial<Setting>>, code?: string])[] =
    [
      ['challengeEnclave', async () => ({}), 'unpinned-client'],
      ['getRelayReceipt', async () => ({ text: 'no-token-of-this-relay' }), 'relay-unauthorized'],
      ['getOpeningState', async () => ({})],
      ['openOrder', async () => ({ order: await signedOrder(common.client, common.deadline) })],
      ['isSignedOrder', async () => ({ order: await signedOrder(common.client, common.deadline) })],
      ['submitOrder', async () => ({})],
      ['cancelOrder', async () => ({}), 'order-ended'],
      ['reclaimOrder', async () => ({}), 'OrderNotOpen'],
      ['claim', async () => ({}), 'NoClaim'],
      ['foundInstitution', async () => ({ client: noor })],
      ['applyChange', async () => ({ client: otto, account: newcomer.address })],
      ['getRulebookVersion', async () => ({ client: dana })],
      ['openRulebookCopy', async () => ({ client: dana, text: copy })],
      ['publishRulebook', async () => ({ client: dana })],
      ['getRulebookCopy', async () => ({ client: dana })],
      ['getKeptPublication', async () => ({ client: dana })],
      ['resumePublication', async () => ({ client: dana })],
      ['forgetPublication', async () => ({ client: dana })],
      ['inviteMember', async () => ({ client: dana, account: brokerFunding.address })],
      ['joinInstitution', async () => ({ client: clientOf(sandbox, brokerFunding) })],
      ['removeMember', async () => ({ client: dana, account: brokerFunding.address })],
      ['proposeMove', async () => ({ client: dana, account: cleo.address })],
      ['acceptMove', async () => ({ client: clientOf(sandbox, ada), account: cleo.address })],
      ['withdrawMove', async () => ({ client: clientOf(sandbox, cleo) })],
      ['leaveInstitution', async () => ({ client: clientOf(sandbox, cleo) })],
    ]
  const functions = functionsSchema.parse({
    ...z.record(z.string(), z.unknown()).parse(await load('examples.js')),
  })
  const ends: (readonly [name: string, code: string | null])[] = []
  const run = async (name: string, values: Partial<Setting>) => {
    use(values)
    const example = functions[`_${name}`]
    if (example === undefined) throw new Error(`there is no example of ${name}`)
    ends.push([name, await codeOf(example)])
  }
  const special = new Set(steps.map(([name]) => name))
  const others = [...(await sourceExamples()).keys()].filter((name) => !special.has(name) && name !== 'lock')
  for (const name of others) await run(name, {})
  for (const [name, values] of steps) await run(name, await values())

  use({})
  vi.stubGlobal('closes', [])
  const { deadline } = common
  vi.stubGlobal('request', { side: 'SELL', symbol: 'AAPL', usdc: 5_000_000n, deadline })
  vi.stubGlobal('node', browserWallet(ben))
  vi.stubGlobal('escrow', sandbox.info.contracts.orderEscrow)
  const [, ...pages] = await pageExamples()
  for (const index of pages.keys()) await load(`page${index + 1}.js`)

  // Also forgets the key that was imported, to which the portfolio is sealed by now.
  await run('lock', {})
  const refusals = new Map(steps.map(([name, , code]) => [name, code]))
  expect(ends).toEqual(ends.map(([name]) => [name, refusals.get(name) ?? null]))
})

it.each(['viem', 'ethers'])(
  'the starter with %s, as pasted from docs/from-nothing.md, settles an order',
  async (wallet) => {
    const { project } = installed()
    const page = await readFile('docs/from-nothing.md', 'utf8')
    const [, set = '', order = ''] = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(
      ([, block = '']) => block,
    )
    const { sandbox, traders } = desk()
    // The packages are there: npm would ask a registry. The clone is this one, and the ports are this sandbox's.
    const pasted = `npm() { :; }\nset -e\n${set}${order}`
      .replace('mkdir my-trader && cd my-trader', '')
      .replaceAll('../confidential-trading-backend', process.cwd())
      .replace('http://127.0.0.1:8000', sandbox.info.url)
      .replace('http://127.0.0.1:8545', sandbox.info.rpcUrl)
      .replace('0x…', traders[0].account.privateKey)
      .replace('viem.ts', `${wallet}.ts`)
    await writeFile(join(project, 'package.json'), JSON.stringify({ type: 'module' }))
    const { stdout } = await runFile('bash', ['-c', pasted], { cwd: project })
    const { positions } = await traders[0].portfolio()
    expect(stdout.trimEnd().split('\n').slice(-2)).toEqual([
      'SETTLED',
      `AAPL ${formatDecimal(positions.AAPL?.qty ?? 0n, SHARE_DECIMALS)}`,
    ])
    const files = ['trade.ts', `${wallet}.ts`]
    expect(await compile(project, files, { resolution: 'nodenext', types })).toBe('')
  },
)
