import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, it, onTestFinished, vi } from 'vitest'
import { runCommandLine } from '../../src/cli/commandLine.js'
import { CommandError } from '../../src/terminal/failure.js'
import { NO_STATUS } from '../client/clientSetting.js'
import { startRawServer } from '../support/rawServer.js'

/** Runs a command at a server that answers like this. */
async function run(args: string[], answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = await startRawServer(answer)
  const lines: string[] = []
  const interruption = new AbortController()
  const exit = runCommandLine([...args, '--server', server], {
    env: {},
    out: { write: (line) => lines.push(line) },
    err: { write: () => true },
    signal: interruption.signal,
  })
  return { lines, exit, interruption }
}

async function watch(answer: Parameters<typeof run>[1]) {
  const { lines, exit, interruption } = await run(['watch', 'market', '--json'], answer)
  const end = async () => {
    interruption.abort(new CommandError('interrupted', 'interrupted'))
    expect(await exit).toBe(130)
  }
  return { lines, end }
}

function market(asOf: string, price: string, stale: boolean): string {
  const symbol = {
    symbol: 'AAPL',
    name: 'Apple',
    price,
    previousClose: null,
    bid: null,
    ask: null,
    asOf: null,
  }
  return JSON.stringify({ asOf, stale, symbols: [symbol], fees: [] })
}

it('goes on watching the market after a question that fails', async () => {
  let asked = 0
  const { lines, end } = await watch((_request, response) => {
    asked++
    if (asked === 2) response.writeHead(503, { 'retry-after': '0' }).end()
    else response.end(market(new Date().toISOString(), `${asked}`, false))
  })
  await expect.poll(() => lines).toHaveLength(2)
  await end()
  expect(lines.at(-1)).toContain('"price":"3"')
})

it('calls prices stale by their age, also while the server has no other answer', async () => {
  const asOf = new Date().toISOString()
  let now = Date.parse(asOf) + 14_000
  vi.spyOn(Date, 'now').mockImplementation(() => now)
  onTestFinished(() => void vi.restoreAllMocks())
  const { lines, end } = await watch((request, response) => {
    response.setHeader('etag', '"1"')
    if (request.headers['if-none-match'] === '"1"') response.writeHead(304).end()
    else response.end(market(asOf, '1', true))
  })
  await expect.poll(() => lines).toHaveLength(1)
  now += 1_000
  await vi.waitFor(() => expect(lines).toHaveLength(2), 10_000)
  await end()
  expect(lines.map((line) => JSON.parse(line).stale)).toEqual([false, true])
})

it.each([
  [{ amount: '1250500000' }, 'escrowed\t1250.5\n'],
  [{ amount: '0', deposit: { symbol: 'AAPL', shares: '2500000000' } }, 'escrowed\t2.5\n'],
])('status shows the USDC in escrow, or the shares of a deposit: %o', async (escrowed, line) => {
  const orderId = `0x${'11'.repeat(32)}`
  const body = JSON.stringify({ ...NO_STATUS, orderId, state: 'OPEN', ...escrowed })
  const { lines, exit } = await run(['status', orderId], (_request, response) => response.end(body))
  expect(await exit).toBe(0)
  expect(lines.join('')).toContain(line)
})

it('watch says why an order waits, and that the enclave tries again where no reason is told', async () => {
  const [orderId, txHash] = [`0x${'11'.repeat(32)}`, `0x${'22'.repeat(32)}`]
  const at = '2030-01-01T00:00:00.000Z'
  const outcomes = [{ outcome: 'queued', waitsFor: 'market-closed' }, { outcome: 'queued' }]
  const entries = [
    ...outcomes.flatMap((ended, index) => {
      const run = { at, attempt: index + 1 }
      return [
        { kind: 'triggered', ...run, reason: 'retry' },
        { kind: 'outcome', ...run, ...ended },
      ]
    }),
    { kind: 'refunded', at, txHash, blockNumber: 7, event: 'OrderRefunded' },
  ]
  const { lines, exit } = await run(['watch', orderId], (_request, response) =>
    response.end(JSON.stringify({ orderId, entries })),
  )
  expect(await exit).toBe(3)
  expect(lines.filter((line) => line.includes('outcome')).map((line) => line.split('\t').at(-1))).toEqual([
    'enclave run 1: queued: waits for the market to open (market-closed)\n',
    'enclave run 2: queued: waits, the enclave tries again\n',
  ])
})
