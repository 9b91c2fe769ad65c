// The command line's history and orders, of trades through the whole platform.
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { parseCsv } from '../../src/client/csv.js'
import { historyEntrySchema } from '../../src/client/history/entries.js'
import { holdingsOf } from '../../src/client/history.js'
import { formatDecimal, SHARE_DECIMALS, USDC_DECIMALS } from '../../src/client/index.js'
import { bytes32Schema } from '../../src/protocol/hex.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { personAt, runCli } from './support/cli.js'
import { useDesk } from './support/desk.js'

const desk = useDesk()
const person = personAt(desk)
const EXPLORER = 'https://explorer.example'
const orderSchema = z.looseObject({ orderId: bytes32Schema })

const linesOf = (out: string) => out.trimEnd().split('\n')
const idOf = (out: string) => orderSchema.parse(JSON.parse(out)).orderId

it('confidential-trading history lists what was traded, without a server, as JSON and CSV, and statement writes it into a new file', async () => {
  const { trader, env, run } = await person(0)
  const bought = idOf((await run('order', 'buy', 'AAPL', '1000', '--json')).out)
  const sold = idOf((await run('order', 'sell', 'AAPL', '300', '--json')).out)
  const refused = idOf((await run('order', 'sell', 'MSFT', '100', '--json')).out)
  const alone = { ...env, TRADING_SERVER_URL: 'http://127.0.0.1:1', TRADING_EXPLORER_URL: EXPLORER }
  const offline = (...args: string[]) => runCli([...args, '--confirmations', '1'], alone)

  const json = await offline('history', '--json')
  expect(json.exit).toBe(0)
  const entries = linesOf(json.out).map((line) => historyEntrySchema.parse(JSON.parse(line)))
  expect(entries.map(({ kind, orderId }) => [kind, orderId])).toEqual([
    ...['opened', 'accepted', 'bought'].map((kind) => [kind, bought]),
    ...['opened', 'accepted', 'sold'].map((kind) => [kind, sold]),
    ...['opened', 'refunded'].map((kind) => [kind, refused]),
  ])
  const portfolio = await trader.portfolio()
  const { cash, positions } = holdingsOf(entries)
  expect(cash).toBe(portfolio.cash)
  expect(positions.AAPL?.shares).toBe(portfolio.positions.AAPL?.qty)

  const csv = await offline('history', '--csv', '--quiet')
  expect(csv).toMatchObject({ exit: 0, err: '' })
  const rows = csv.out.split('\r\n')
  expect(rows[0]).toBe(
    'time,event,order,symbol,shares,USDC,price,adjusted price,cash change,final,transaction',
  )
  expect(rows).toHaveLength(entries.length + 2)
  const fill = entries.find((entry) => entry.kind === 'bought')
  if (fill?.kind !== 'bought') throw new Error('nothing was bought')
  const cells = (rows[3] ?? '').split(',')
  expect(cells.slice(1, 6)).toEqual([
    ...['bought', bought, 'AAPL'],
    ...[formatDecimal(fill.shares, SHARE_DECIMALS), formatDecimal(fill.cost, USDC_DECIMALS)],
  ])
  expect(Date.parse(cells[0] ?? '')).toBe(fill.timestamp * 1_000)
  expect(cells.at(-1)).toBe(`${EXPLORER}/tx/${fill.txHash}`)

  const out = join(await temporaryDirectory(), 'year.csv')
  const year = new Date(fill.timestamp * 1_000).toISOString().slice(0, 4)
  const statement = ['statement', year, '--format', 'csv', '--out', out, '--json']
  const written = await runCli(statement, alone)
  expect(JSON.parse(written.out)).toMatchObject({ period: year, lines: 2, isComplete: true })
  const [, first = []] = [...parseCsv(await readFile(out, 'utf8'))].map(({ cells }) => cells)
  expect(first.slice(1, 4)).toEqual(['bought', 'AAPL', formatDecimal(fill.shares, SHARE_DECIMALS)])
  expect((await stat(out)).mode & 0o077).toBe(0)
  expect((await runCli(statement, alone)).exit).toBe(2)
  const state = join(env.XDG_STATE_HOME ?? '', 'confidential-trading', 'history')
  const [kept = '', ...others] = await readdir(state)
  expect(others).toEqual([])
  expect((await readFile(join(state, kept))).includes('AAPL')).toBe(false)

  const listed = linesOf((await offline('orders', '--json')).out).map((line) => JSON.parse(line))
  expect(listed).toMatchObject([
    { orderId: bought, usdc: '1000000000', shares: fill.shares.toString(), value: fill.cost.toString() },
    { orderId: sold, state: 'SETTLED' },
    { orderId: refused, state: 'REFUNDED', side: null, value: '0' },
  ])
  for (const { out } of [json, csv]) expect(out).not.toContain(env.TRADING_PRIVATE_KEY?.slice(2))
})
