import { expect, it, onTestFinished, vi } from 'vitest'
import { runCommandLine } from '../../src/cli/commandLine.js'
import { CommandError } from '../../src/terminal/failure.js'
import { eventually } from '../support/eventually.js'
import { startRawServer } from '../support/rawServer.js'

it('goes on watching the market after a question that fails', async () => {
  let asked = 0
  const server = await startRawServer((_request, response) => {
    asked++
    if (asked === 2) {
      response.writeHead(503, { 'retry-after': '0' }).end()
      return
    }
    const unknown = { previousClose: null, bid: null, ask: null, asOf: null }
    const symbols = [{ symbol: 'AAPL', name: 'Apple', price: `${asked}`, ...unknown }]
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ asOf: new Date().toISOString(), stale: false, symbols, fees: [] }))
  })
  const lines: string[] = []
  const interruption = new AbortController()
  const exit = runCommandLine(['watch', 'market', '--server', server, '--json'], {
    env: {},
    out: { write: (line) => lines.push(line) },
    err: { write: () => true },
    signal: interruption.signal,
  })
  await eventually('the prices after the failure', () => lines.length === 2)
  interruption.abort(new CommandError('interrupted', 'interrupted'))
  expect(await exit).toBe(130)
  expect(lines.at(-1)).toContain('"price":"3"')
})

it('calls prices stale by their age, also while the server has no other answer', async () => {
  const unknown = { previousClose: null, bid: null, ask: null, asOf: null }
  const asOf = new Date().toISOString()
  let now = Date.parse(asOf) + 14_000
  vi.spyOn(Date, 'now').mockImplementation(() => now)
  onTestFinished(() => void vi.restoreAllMocks())
  const server = await startRawServer((request, response) => {
    response.setHeader('etag', '"1"')
    if (request.headers['if-none-match'] === '"1"') {
      response.writeHead(304).end()
      return
    }
    const symbols = [{ symbol: 'AAPL', name: 'Apple', price: '1', ...unknown }]
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ asOf, stale: true, symbols, fees: [] }))
  })
  const lines: string[] = []
  const interruption = new AbortController()
  const exit = runCommandLine(['--json', 'watch', 'market', '--server', server], {
    env: {},
    out: { write: (line) => lines.push(line) },
    err: { write: () => true },
    signal: interruption.signal,
  })
  await expect.poll(() => lines).toHaveLength(1)
  now += 1_000
  await vi.waitFor(() => expect(lines).toHaveLength(2), 10_000)
  interruption.abort(new CommandError('interrupted', 'interrupted'))
  expect(await exit).toBe(130)
  expect(lines.map((line) => JSON.parse(line).stale)).toEqual([false, true])
})
