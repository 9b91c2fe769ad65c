// The first example of docs/client.md and the starter, as they stand there: in a project of their own, compiled, and run against the
// sandbox. test/client/package.test.ts compiles the other examples, test/browser/evergreen.test.ts runs the starter.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { formatDecimal, SHARE_DECIMALS } from '../../src/client/index.js'
import { pageExamples, writeExamples } from '../client/package/examples.js'
import { run as runFile, useInstalledPackage } from '../client/package/installed.js'
import { compile } from '../client/package/typeScript.js'
import { startProgram } from '../support/program.js'
import { useDesk } from './support/desk.js'

const MOST_LINES = 30
/** The examples read a file and the environment, so their compiler must know Node. */
const types = ['node']

const desk = useDesk()
const installed = useInstalledPackage(['@types/node', 'viem'])

it('the first example compiles, trades and prints the portfolio', async () => {
  const [text = ''] = await pageExamples()
  expect(text.split('\n').filter((line) => line !== '').length).toBeLessThanOrEqual(MOST_LINES)
  const { project } = installed()
  const { sandbox, traders } = desk()
  await writeExamples(installed(), sandbox.info.url)
  expect(await compile(project, ['page0.ts'], { resolution: 'nodenext', types, outDir: '.' })).toBe('')
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
