// The page's own node over HTTP: an answer with another status than 200 is named as what it is.
import { expect, it, onTestFinished } from 'vitest'
import { toTradingError } from '../../src/client/index.js'
import { nodeProvider } from '../../web/wallet/node.js'
import { startHttpServer } from '../support/httpServer.js'

const REFUSAL = { code: -32_600, message: 'eth_getLogs takes up to 10 blocks' }

it.each([
  [400, JSON.stringify({ jsonrpc: '2.0', id: 1, error: REFUSAL }), REFUSAL],
  [200, JSON.stringify({ jsonrpc: '2.0', id: 1, error: REFUSAL }), REFUSAL],
  [200, '<html>', { code: 'unexpected-answer' }],
])('a node that answers %i with %s fails as %o', async (status, body, expected) => {
  await expect(answerOf(status, body)).rejects.toMatchObject(expected)
})

it.each([
  [429, 'node-rate-limited'],
  [504, 'node-timeout'],
  [503, 'node-unavailable'],
  [401, 'node-unavailable'],
])('a node that answers %i without JSON-RPC is %s', async (status, code) => {
  const failure = await answerOf(status, 'no').catch((error: unknown) => error)
  expect(toTradingError(failure).code).toBe(code)
})

async function answerOf(status: number, body: string): Promise<unknown> {
  const server = await startHttpServer((_request, response) => response.writeHead(status).end(body))
  onTestFinished(server.stop)
  return nodeProvider(server.url).request({ method: 'eth_getLogs' })
}
