// The example in docs/client.md, as it stands there: in a project of its own, compiled, and run against the sandbox.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { formatDecimal, SHARE_DECIMALS } from '../../src/client/index.js'
import { useInstalledPackage } from '../client/package/installed.js'
import { compile } from '../client/package/typeScript.js'
import { useDesk } from './support/desk.js'
import { startProgram } from './support/program.js'

const MOST_LINES = 30
const FILE = 'trade.ts'
/** The example reads a file and the environment, so its compiler must know Node. */
const types = ['node']

const desk = useDesk()
const installed = useInstalledPackage(['@types/node'])

async function example(): Promise<string> {
  const page = await readFile('docs/client.md', 'utf8')
  return /^```ts\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? ''
}

it('the example of the client compiles, trades and prints the portfolio', async () => {
  const { project } = installed()
  const text = await example()
  expect(text.split('\n').filter((line) => line !== '').length).toBeLessThanOrEqual(MOST_LINES)
  await writeFile(join(project, 'package.json'), JSON.stringify({ type: 'module' }))
  await writeFile(join(project, FILE), text)
  expect(await compile(project, [FILE], { resolution: 'bundler', types })).toBe('')
  expect(await compile(project, [FILE], { resolution: 'nodenext', types, outDir: '.' })).toBe('')

  const { sandbox, traders } = desk()
  const keyFile = join(project, 'employee.key')
  await writeFile(keyFile, `${traders[0].account.privateKey}\n`, { mode: 0o600 })
  const program = startProgram(join(project, 'trade.js'), [], {
    cwd: project,
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
