// An institution of ten thousand: from its admin's file by the command line to the chain, by the real server and enclave, and what its
// rules then forbid.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { ONE_USDC } from '../../src/protocol/units.js'
import { EQUITIES, INSTITUTION } from '../../src/sandbox/settings.js'
import { eventually } from '../support/eventually.js'
import { personEnv, runShippedCli, startCli } from './support/cli.js'
import { useDesk } from './support/desk.js'

const ORG = nameToBytes32(INSTITUTION)
const SYMBOLS = EQUITIES.map(({ symbol }) => symbol)
const COUNT = 10_000
const desk = useDesk()
let [directory, env]: [string, Record<string, string>] = ['', {}]
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'long-rulebook-'))
  env = personEnv(desk(), { account: desk().sandbox.accounts.admin }, directory)
})
afterAll(() => rm(directory, { recursive: true, force: true }))

const rulebook = {
  employees: {},
  default: { group: 'Desk' },
  groups: {
    Desk: { canBuy: true, canSell: true, restricted: ['TSLA'] },
    Research: { canBuy: false, canSell: true, restricted: [] },
  },
  maxOrderNotional: String(25_000n * ONE_USDC),
  allowWithdrawShares: true,
}
const addressOf = (at: number) => `0x${at.toString(16).padStart(40, '0')}`

/** Ten thousand who differ from the default, a thousand of the group that is the default, and these. */
function fileOf(...lines: readonly string[]): string {
  const differing = Array.from({ length: COUNT }, (_, at) => {
    const restricted = [0, 1, 2].map((step) => SYMBOLS[(at + step) % SYMBOLS.length])
    return `${addressOf(at + 1)},Employee ${at + 1},${at % 2 === 0 ? 'yes' : 'no'},yes,${restricted.join(' ')},`
  })
  const like = Array.from({ length: 1_000 }, (_, at) => `${addressOf(20_001 + at)},,,,,Desk`)
  return ['wallet,name,buy,sell,restricted,group', ...differing, ...like, ...lines].join('\r\n')
}

async function commandOf(name: string, content: object, employees: string): Promise<string[]> {
  const [file, csv] = [join(directory, `${name}.json`), join(directory, `${name}.csv`)]
  await writeFile(file, JSON.stringify(content))
  await writeFile(csv, employees)
  return ['policy', file, '--employees', csv, '--yes', '--json']
}

const versionInForce = () => desk().contracts.ledger.policyVersion(ORG)
const chain = (method: string, ...args: unknown[]) => desk().sandbox.provider.send(method, args)
const BUY = { side: 'BUY', usdc: 100n * ONE_USDC } as const

it('a file of ten thousand employees, cut off between two parts, and its enclave killed between two others, is published by the same command and obeyed', async () => {
  const [ada, ben, cleo] = desk().traders
  const lines = [
    `${ada.account.address},Ada Lovelace,,,,Research`,
    `${ben.account.address},Ben Oduya,yes,yes,,`,
  ]
  const command = await commandOf('first', rulebook, fileOf(...lines))
  await chain('evm_setIntervalMining', 0)
  const killed = startCli(command, env)
  const pending = () => desk().contracts.ledger.pendingPolicyBlob(ORG)
  await eventually('the first part is on the chain', async () => {
    await chain('evm_mine')
    return (await pending()) !== '0x'
  })
  killed.child.kill('SIGKILL')
  await killed.exit
  expect(await versionInForce()).toBe(1)

  const failing = startCli(command, env)
  await eventually('the second part is sent', async () => (await chain('txpool_status')).pending === '0x1')
  await desk().sandbox.enclave().kill()
  await chain('evm_setIntervalMining', 1)
  // Whether the next enclave takes the run up, or the command fails, depends on when the block comes.
  await failing.exit
  expect(failing.err()).toContain('going on where it was cut off')

  const again = startCli(command, env)
  expect(await again.exit, again.err()).toBe(0)
  expect(JSON.parse(again.out())).toMatchObject({ orgId: ORG, version: 2 })
  expect(await versionInForce()).toBe(2)

  // The copy is of what is in force: the file as it is changes nothing, and no employee of the default is listed.
  const same = await runShippedCli(command, env)
  expect({ exit: same.exit, version: await versionInForce() }).toEqual({ exit: 0, version: 2 })
  expect(same.err).toContain('version 2 is this rulebook: nothing to publish')
  const { employees, ...common } = JSON.parse((await runShippedCli(['policy', 'export', '--open'], env)).out)
  expect(common).toEqual({ ...rulebook, employees: undefined })
  expect(Object.keys(employees)).toHaveLength(COUNT + 2)
  expect(employees[ada.account.address.toLowerCase()]).toEqual({ group: 'Research' })

  const [grouped, settled, restricted] = await Promise.all([
    ada.trade({ ...BUY, symbol: 'AAPL' }),
    ben.trade({ ...BUY, symbol: 'TSLA' }),
    // No line of the file names her: she has the default.
    cleo.trade({ ...BUY, symbol: 'TSLA' }),
  ])
  expect(await ada.reason(grouped)).toBe('not-permitted')
  expect(settled.state).toBe('SETTLED')
  expect(await cleo.reason(restricted)).toBe('restricted-symbol')
  expect((await cleo.trade({ ...BUY, symbol: 'AAPL' })).state).toBe('SETTLED')
})

it('a file of employees refuses whom it does not list once the rulebook has no default, and shows names that only its admin opens', async () => {
  const [ada, , cleo] = desk().traders
  const { default: _, ...closed } = rulebook
  const lines = ['wallet,name,group', `${ada.account.address},Ada King,Desk`]
  const published = await runShippedCli(await commandOf('second', closed, lines.join('\n')), env)
  expect(published.exit, published.err).toBe(0)
  expect(published.err).toContain(`lifted     ${ada.account.address} (Ada King) may now buy\n`)
  expect(published.err).toMatch(
    /tightened {2}\d+ employees, each: is no longer listed, so it may neither buy nor sell \(.* \(Employee \d+\)/,
  )
  expect(await cleo.reason(await cleo.trade({ ...BUY, symbol: 'AAPL' }))).toBe('not-permitted')
  expect((await ada.trade({ ...BUY, symbol: 'AAPL' })).state).toBe('SETTLED')
  const state = join(directory, 'confidential-trading')
  const kept = (await readdir(state, { recursive: true, withFileTypes: true })).filter((entry) =>
    entry.isFile(),
  )
  const texts = await Promise.all(
    kept.map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1')),
  )
  expect(kept.length).toBeGreaterThan(1)
  for (const text of texts) expect(text).not.toMatch(/King|Oduya|TSLA/)
})
