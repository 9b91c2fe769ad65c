import fs, { readFile, stat, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import * as z from 'zod'
import { formatDecimal, USDC_DECIMALS } from '../../src/client/index.js'
import { bytes32Schema } from '../../src/protocol/hex.js'
import { receiptSchema } from '../../src/protocol/relayReceipt.js'
import { ONE_USDC } from '../../src/protocol/units.js'
import { eventually } from '../support/eventually.js'
import { operate } from '../support/operate.js'
import { startRawServer } from '../support/rawServer.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { errorOf, orderOf, personAt, personEnv, runCli, runShippedCli, startCli } from './support/cli.js'
import { useDesk } from './support/desk.js'

const desk = useDesk()
const person = personAt(desk)

it('confidential-trading order buys: opens the escrow, submits, follows, and the portfolio shows it', async () => {
  const { trader, env, kept } = await person(0)
  const { exit, out, err } = await runShippedCli(['order', 'buy', 'AAPL', '1000.50'], env)
  expect(exit).toBe(0)
  const fields = new Map(out.split('\n').map((line) => [line.split('\t')[0], line.split('\t')[1]]))
  expect(fields.get('state')).toBe('SETTLED')
  expect(fields.get('escrowed')).toBe('1000.5')
  expect(fields.get('filled')).toMatch(/^The order was filled\. Bought \S+ AAPL for \S+ USDC\..* \(filled\)$/)
  expect(err).toContain("no fee now: selling the shares pays the broker's CAT for both trades")
  expect(err).toContain('escrow opened in 0x')
  expect(err).toMatch(/^SETTLED, enclave run/m)
  expect(await kept()).toEqual([])
  const { cash } = await trader.portfolio()
  const portfolio = await runShippedCli(['portfolio', '--quiet'], env)
  expect(portfolio.err).toBe('')
  expect(portfolio.out).toContain(`cash\t${formatDecimal(cash, USDC_DECIMALS)}\n`)
  expect(portfolio.out).toMatch(/^AAPL\t\d+\.\d+\t0$/m)
  const key = (env.TRADING_PRIVATE_KEY ?? '').slice(2)
  for (const text of [out, err, portfolio.out]) expect(text).not.toContain(key)
})

it('confidential-trading verify-receipt tells an auditor without a key what was ordered, and from which bytes it was not', async () => {
  const { env, run } = await person(1)
  const folder = await temporaryDirectory()
  const file = join(folder, 'receipt.json')
  expect((await run('order', 'buy', 'TSLA', '25', '--receipt', file)).exit).toBe(0)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const { TRADING_RPC_URL = '', TRADING_ESCROW = '' } = env
  const auditor = { TRADING_RPC_URL, TRADING_ESCROW }
  const verified = await runCli(['verify-receipt', file], auditor)
  expect(verified.exit).toBe(0)
  expect(verified.out).toMatch(/^side\tBUY\nsymbol\tTSLA\namount\t25$/m)
  expect(verified.out).toMatch(/^institution\tExample Capital$/m)
  expect(verified.out).toMatch(/^state\tSETTLED$/m)
  expect(verified.out).toMatch(/^ended\t.* in 0x/m)
  const receipt = z.looseObject({}).parse(JSON.parse(await readFile(file, 'utf8')))
  const forged = join(folder, 'forged.json')
  await writeFile(forged, JSON.stringify({ ...receipt, contentKey: `0x${'11'.repeat(32)}` }))
  const refused = await runCli(['verify-receipt', forged, '--json'], auditor)
  expect(refused.exit).toBe(3)
  expect(JSON.parse(refused.out)).toEqual({ outcome: 'not-verified', code: 'does-not-open' })
  await writeFile(forged, '{}')
  expect((await runCli(['verify-receipt', forged], auditor)).exit).toBe(2)
  const down = { ...auditor, TRADING_RPC_URL: 'http://127.0.0.1:1' }
  expect((await runCli(['verify-receipt', file], down)).exit).toBe(5)
})

it('confidential-trading allowance shows what an order has let the escrow take for later ones, and withdraws it', async () => {
  const { run } = await person(2)
  const left = async (...args: string[]) => {
    const { exit, out } = await run('allowance', ...args, '--json')
    expect(exit).toBe(0)
    return z.looseObject({ allowance: z.string() }).parse(JSON.parse(out)).allowance
  }
  expect(await left()).toBe('0')
  const { exit, err } = await run('order', 'buy', 'TSLA', '25', '--approve', '100')
  expect(exit).toBe(0)
  expect(err).toContain('transaction: Lets the escrow take 100.00 USDC.')
  expect(await left()).toBe(String(75n * ONE_USDC))
  expect(await left('0')).toBe('0')
  expect((await run('allowance')).out).toMatch(/^allowance\t0$/m)
})

it('confidential-trading order ends with 3 when the enclave refuses, and says why in words', async () => {
  const { run } = await person(1)
  const { exit, out, err } = await run('order', 'sell', 'MSFT', '100', '--json')
  expect(exit).toBe(3)
  expect(err).toMatch(/fees \(TAF, CAT\) are deducted from the proceeds: about 0\.02 USDC/)
  const { state, orderId, notice } = orderOf(out)
  expect(state).toBe('REFUNDED')
  expect(notice?.code).toBe('insufficient-shares')
  expect(notice?.message).toMatch(/\w+ \w+/)
  expect(orderOf((await run('status', orderId, '--json')).out).notice).toBeNull()
  const opened = await run('status', orderId, '--reason')
  expect(opened.exit).toBe(0)
  expect(opened.out).toContain(`refused\t${notice?.message} (insufficient-shares)`)
  expect((await run('watch', orderId)).exit).toBe(3)
})

it('confidential-trading order keeps a sealed order that did not reach the server, and submits it again', async () => {
  const { env, kept, run } = await person(0)
  const halfDeaf = { ...env, TRADING_SERVER_URL: await startWithoutPosts() }
  const { exit, err } = await runCli(['order', 'buy', 'AMZN', '150', '--json'], halfDeaf)
  expect(exit).toBe(1)
  const { code, message } = errorOf(err)
  expect(code).toBe('not-submitted')
  const [file, ...others] = await kept()
  expect(others).toEqual([])
  const orderId = (file ?? '').replace('.json', '')
  expect(message).toContain(`order resume ${orderId}`)
  const resumed = await run('order', 'resume', orderId, '--json')
  expect(orderOf(resumed.out)).toMatchObject({ orderId, state: 'SETTLED' })
  expect(resumed.exit).toBe(0)
  expect(await kept()).toEqual([])
  expect((await run('order', 'resume', orderId)).exit).toBe(2)
})

/** The server, but that every POST fails. */
async function startWithoutPosts(): Promise<string> {
  const { url } = desk().sandbox.info
  return startRawServer((request, response) => {
    if (request.method === 'POST') {
      response.writeHead(500).end()
      return
    }
    void fetch(`${url}${request.url}`).then(async (answer) =>
      response.writeHead(answer.status).end(await answer.text()),
    )
  })
}

const rules = { canBuy: true, canSell: true, restricted: [] as string[] }
const rulebook = (change: Record<string, unknown> = {}) => ({
  employees: Object.fromEntries(desk().traders.map(({ account }) => [account.address, rules])),
  maxOrderNotional: String(20_000n * ONE_USDC),
  allowWithdrawShares: true,
  ...change,
})

/** From a machine that has no copy of the version in force: test/attacks/liftedRules.test.ts has the others. */
async function publish(text: string, env: Record<string, string>) {
  const file = join(await temporaryDirectory(), 'rulebook.json')
  await writeFile(file, text)
  return runCli(['policy', file, '--yes', '--json'], env)
}

async function admin() {
  return personEnv(desk(), { account: desk().sandbox.accounts.admin }, await temporaryDirectory())
}

it('confidential-trading policy publishes a rulebook from a file', async () => {
  const { out, exit } = await publish(JSON.stringify(rulebook()), await admin())
  expect(exit).toBe(0)
  const schema = z.object({ orgId: bytes32Schema, version: z.int(), changes: z.null() })
  expect(schema.parse(JSON.parse(out)).version).toBeGreaterThan(1)
})

it('confidential-trading policy ends with 3 when the enclave rejects it, and names the reason', async () => {
  const restricted = { [desk().traders[0].account.address]: { ...rules, restricted: ['NOPE'] } }
  const { exit, err } = await publish(JSON.stringify(rulebook({ employees: restricted })), await admin())
  expect(exit).toBe(3)
  expect(errorOf(err).code).toBe('policy-rejected')
  expect(errorOf(err).message).toContain('unlisted-symbol')
  expect(errorOf(err).requestId).not.toBeNull()
})

it('confidential-trading policy refuses an employee that stands twice, without a request', async () => {
  const name = `"${desk().traders[0].account.address}":`
  const text = JSON.stringify(rulebook()).replace(name, `${name}${JSON.stringify(rules)},${name}`)
  const nowhere = { TRADING_SERVER_URL: 'http://127.0.0.1:1', TRADING_RPC_URL: 'http://127.0.0.1:2' }
  const { exit, err } = await publish(text, { ...(await admin()), ...nowhere })
  expect({ exit, code: errorOf(err).code }).toEqual({ exit: 2, code: 'usage' })
})

it('confidential-trading wallet tells of one’s own wallet, or of another', async () => {
  const { trader, run } = await person(0)
  const { exit, out } = await run('wallet')
  expect(exit).toBe(0)
  expect(out).toContain(`address\t${trader.account.address}\nscreen\ttrade\ninstitution\tExample Capital\n`)
  expect(out).toContain('AAPL\tyes\tyes\tno\n')
  const { address } = desk().sandbox.accounts.owner
  const other = z
    .object({ address: z.string(), screen: z.string() })
    .parse(JSON.parse((await run('wallet', address, '--json')).out))
  expect(other).toEqual({ address, screen: 'found' })
})

it('confidential-trading key rotate puts the key into use that its new file has, and none of a file that is cut off', async () => {
  const { run } = await person(2)
  const folder = await temporaryDirectory()
  const rotated = await run('key', 'rotate', join(folder, 'whole.json'), '--json')
  expect(rotated.exit).toBe(0)
  expect(JSON.parse(rotated.out).drawnAt).toMatch(/^20/)
  const write = fs.writeFile
  const writing = vi.spyOn(fs, 'writeFile')
  writing.mockImplementation((path, text, options) => write(path, String(text).slice(0, 99), options))
  syncBuiltinESMExports()
  onTestFinished(() => {
    writing.mockRestore()
    syncBuiltinESMExports()
  })
  const cut = await run('key', 'rotate', join(folder, 'cut.json'), '--json')
  expect([cut.exit, cut.out, errorOf(cut.err).code]).toEqual([1, '', 'invalid-key-file'])
})

it('confidential-trading watch market prints prices that changed, until it is interrupted', async () => {
  const { env } = await person(0)
  const program = startCli(['watch', 'market', '--json'], env)
  const lines = () =>
    program
      .out()
      .trimEnd()
      .split('\n')
      .filter((line) => line.includes('"AAPL"'))
  await eventually('the first prices', () => lines().length === 1)
  desk().sandbox.broker.price({ symbol: 'AAPL', price: '321.5' })
  await eventually('the changed price', () => lines().at(-1)?.includes('"price":"321500000"') ?? false)
  program.child.kill('SIGINT')
  expect(await program.exit).toBe(130)
})

it('operate relay shows the receipt of a digest to a holder of the token', async () => {
  const [{ client, trade }] = desk().traders
  const { orderId } = await trade({ side: 'BUY', symbol: 'AAPL', usdc: 50n * ONE_USDC })
  const relayed = await eventually('the digest', async () => {
    const { entries } = await client.getOrderTimeline(orderId)
    return entries.find((entry) => entry.kind === 'relayed')
  })
  const { digest } = relayed
  const file = join(await temporaryDirectory(), 'token')
  await writeFile(file, `${desk().sandbox.secrets.relayAuthToken}\n`, { mode: 0o600 })
  const env = { SERVER_URL: desk().sandbox.info.url, RELAY_AUTH_TOKEN_FILE: file }
  const shown = await operate(['relay', digest, '--json'], { env })
  expect(shown.exit).toBe(0)
  expect(receiptSchema.parse(JSON.parse(shown.out))).toMatchObject({ digest, status: 'confirmed' })
  expect((await operate(['relay', digest], { env })).out).toContain('type: OrderSettlement\n')
  await writeFile(file, 'x'.repeat(40))
  const wrong = await operate(['relay', digest, '--json'], { env })
  expect({ exit: wrong.exit, code: errorOf(wrong.err).code }).toEqual({
    exit: 1,
    code: 'relay-unauthorized',
  })
  expect(wrong.err + shown.out).not.toContain('x'.repeat(40))
})

it.each([
  [{ TRADING_SERVER_URL: 'http://127.0.0.1:1' }, 'status', 'server-unreachable'],
  [{ TRADING_RPC_URL: 'http://127.0.0.1:2' }, 'portfolio', 'node-unavailable'],
])('confidential-trading ends with 5 where nobody answers: %j', async (elsewhere, command, code) => {
  const { env } = await person(0)
  const { exit, err } = await runCli([command, '--json'], { ...env, ...elsewhere })
  expect({ exit, code: errorOf(err).code }).toEqual({ exit: 5, code })
})

it('a reader that goes away from the results ends the command as Ctrl-C does, without a word', async () => {
  const { env } = await person(0)
  const program = startCli(['watch', 'market'], env)
  await eventually('the first prices', () => program.out() !== '')
  program.child.stdout?.destroy()
  desk().sandbox.broker.price({ symbol: 'AAPL', price: '322.5' })
  expect(await program.exit).toBe(130)
  expect(program.err()).toBe('')
})

it('confidential-trading order --sponsored buys and sells for a wallet without ether, which sends no transaction', async () => {
  const { provider } = desk().sandbox
  const { trader, run } = await person(1)
  const { address } = trader.account
  await provider.send('anvil_setBalance', [address, '0x0'])
  const before = await provider.getTransactionCount(address)
  const bought = await run('order', 'buy', 'AAPL', '100', '--sponsored')
  expect([bought.exit, bought.err]).toEqual([0, expect.stringContaining('escrow opened in 0x')])
  expect(bought.out).toContain('state\tSETTLED\n')
  const sold = await eventually('the shares are there', async () => {
    const sale = await run('order', 'sell', 'AAPL', '40', '--sponsored')
    return sale.exit === 0 && sale
  })
  expect(sold.out).toContain('state\tSETTLED\n')
  expect(await provider.getTransactionCount(address)).toBe(before)
})
