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

it('events that are too long for a page are refused, whether the node says their length or not', async () => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, result: 'x'.repeat(2_000_000) })
  const refusal = { code: 'too-much-to-read' }
  await expect(answerOf(200, body)).rejects.toMatchObject(refusal)
  await expect(answerOf(200, body, { headers: { 'content-length': body.length } })).rejects.toMatchObject(
    refusal,
  )
  expect(await answerOf(200, body, { method: 'eth_call' })).toHaveLength(2_000_000)
  expect(await answerOf(200, '{"result":[]}')).toEqual([])
})

async function answerOf(
  status: number,
  body: string,
  { method = 'eth_getLogs', headers = {} }: { method?: string; headers?: Record<string, number> } = {},
): Promise<unknown> {
  const server = await startHttpServer((_request, response) => response.writeHead(status, headers).end(body))
  onTestFinished(server.stop)
  return nodeProvider(server.url).request({ method })
}
