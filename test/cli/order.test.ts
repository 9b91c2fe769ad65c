import { beforeEach, expect, it } from 'vitest'
import * as z from 'zod'
import { runCommandLine } from '../../src/cli/commandLine.js'
import { startRawServer } from '../support/rawServer.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

const ADDRESS = `0x${'11'.repeat(20)}`
const HEALTH = {
  ...{ status: 'ok', version: '1.0.0', chainId: 31_337, symbols: ['AAPL', 'MSFT'], relayer: ADDRESS },
  relayers: [ADDRESS],
  contracts: Object.fromEntries(
    ['institutionRegistry', 'orderEscrow', 'confidentialLedger', 'equityToken', 'platformPool'].map(
      (name) => [name, ADDRESS],
    ),
  ),
}
const questionsSchema = z.union([
  z.looseObject({ id: z.number() }),
  z.array(z.looseObject({ id: z.number() })),
])

let asked: string[] = []
beforeEach(() => {
  asked = []
})

const startServer = () =>
  startRawServer((request, response) => {
    asked.push(request.url ?? '')
    response.setHeader('content-type', 'application/json')
    if (request.url !== '/health') response.writeHead(404)
    response.end(JSON.stringify(HEALTH))
  })

const startNode = () =>
  startRawServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    const answers = [questionsSchema.parse(JSON.parse(body))].flat().map(({ id, method }) => {
      asked.push(String(method))
      return { jsonrpc: '2.0', id, result: '0x7a69' }
    })
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(body.startsWith('[') ? answers : answers[0]))
  })

it.each(['buy', 'sell'])(
  'refuses to %s what is not listed before anything is signed or sent',
  async (side) => {
    let stderr = ''
    const exit = await runCommandLine(['--json', 'order', side, 'ZZZZ', '10'], {
      env: {
        TRADING_SERVER_URL: await startServer(),
        TRADING_RPC_URL: await startNode(),
        TRADING_PRIVATE_KEY: `0x${'5a'.repeat(32)}`,
        XDG_STATE_HOME: await temporaryDirectory(),
      },
      out: { write: () => true },
      err: { write: (text: string) => (stderr += text) },
      signal: new AbortController().signal,
    })
    expect({ exit, ...JSON.parse(stderr).error }).toEqual({
      ...{ exit: 2, code: 'usage', requestId: null },
      message: 'the symbol: ZZZZ is not listed; the server lists AAPL MSFT',
    })
    expect(asked).toEqual(['eth_chainId', '/health'])
  },
)
