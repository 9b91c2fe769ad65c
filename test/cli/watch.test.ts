import { expect, it } from 'vitest'
import { runCommandLine } from '../../src/cli/commandLine.js'
import { Interruption } from '../../src/cli/failure.js'
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
  interruption.abort(new Interruption('interrupted'))
  expect(await exit).toBe(130)
  expect(lines.at(-1)).toContain('"price":"3"')
})
