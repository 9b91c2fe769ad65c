import type { RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { createRpc } from '../../src/chain/rpc.js'
import { startHttpServer } from '../support/httpServer.js'

async function serve(listener: RequestListener): Promise<string> {
  const server = await startHttpServer(listener)
  onTestFinished(server.stop)
  return server.url
}

const callsSchema = z.array(
  z.object({ jsonrpc: z.literal('2.0'), id: z.int(), method: z.string(), params: z.array(z.unknown()) }),
)

/** A node that answers a batch with what `answer` makes of it, and counts requests. */
async function node(answer: (calls: z.output<typeof callsSchema>) => unknown, status = 200) {
  const seen = { requests: 0 }
  const url = await serve(async (request, response) => {
    seen.requests++
    const calls = callsSchema.parse(JSON.parse(await text(request)))
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer(calls)))
  })
  return { url, seen }
}

const echo = () =>
  node((calls) => calls.map(({ id, params }) => ({ jsonrpc: '2.0', id, result: params[0] })).reverse())

/** https://eips.ethereum.org/EIPS/eip-1474: limit exceeded. */
const LIMIT = { code: -32_005, message: 'daily request count exceeded' }

/** A node with nothing behind it. */
const INTERNAL = { code: -32_603, message: 'internal error' }
const REVERTED = { code: 3, message: 'execution reverted' }
const OLD_REVERTED = { code: -32_000, message: 'execution reverted', data: '0x08c379a0' }

/** A node that refuses the second call of a batch, as it is asked too much. */
const limitedInOne = () =>
  node((batch) => batch.map(({ id }) => (id === 1 ? { id, error: LIMIT } : { id, result: 'partly' })))

const calls = [
  { method: 'a', params: ['first'] },
  { method: 'b', params: [null] },
]
const answers = [{ result: 'first' }, { result: null }]
const rpcOf = (...nodes: readonly { url: string }[]) =>
  createRpc({ urls: nodes.map(({ url }) => url), timeoutMs: 1_000 })

it('a batch is one request and is answered in the order of its calls', async () => {
  const good = await echo()
  expect(await rpcOf(good).send(calls)).toEqual(answers)
  expect(good.seen.requests).toBe(1)
})

// rpcNodes.test.ts has what sets a node aside: an HTTP error, its rate, silence, a body that is not JSON.
const faulty: Record<string, () => Promise<{ url: string }>> = {
  'a rate limit in one answer': async () => limitedInOne(),
  'nothing but errors': () => node((batch) => batch.map(({ id }) => ({ id, error: INTERNAL }))),
  'a lost connection': async () => ({ url: await serve((request) => request.socket.destroy()) }),
  'an answer too few': () => node((batch) => batch.slice(1).map(({ id }) => ({ id, result: 1 }))),
  'an answer twice': () => node((batch) => batch.map(() => ({ id: 0, result: 1 }))),
  'an answer with neither result nor error': () => node((batch) => batch.map(({ id }) => ({ id }))),
  'one object for a batch': () => node(() => ({ jsonrpc: '2.0', id: 0, result: 1 })),
  'a closed port': async () => ({ url: 'http://127.0.0.1:9' }),
}

it.each(Object.keys(faulty))('another node is asked after %s', async (fault) => {
  const bad = await faulty[fault]?.()
  expect(await rpcOf(bad ?? { url: '' }, await echo()).send(calls)).toEqual(answers)
})

/** A node that refuses calls of one method. */
const without = (refused: string, error: object) =>
  node((batch) =>
    batch.map(({ id, method }) => (method === refused ? { id, error } : { id, result: 'first' })),
  )

it('an error where there can be none has another node asked for all of the batch', async () => {
  const bad = await without('eth_getTransactionCount', { code: -32_000, message: 'missing trie node' })
  const count = { method: 'eth_getTransactionCount', params: ['0x1'] }
  const found = await rpcOf(bad, await echo()).send([...calls, count])
  expect(found).toEqual([...answers, { result: '0x1' }])
})

const CALL = [{ method: 'eth_call', params: [] }]

it.each([
  ['a revert', CALL, REVERTED, []],
  ['one with the data of a revert', CALL, OLD_REVERTED, []],
  ['one of one call among others, perhaps its fault', calls.toReversed(), INTERNAL, [{ result: 'first' }]],
])('an error is an answer: %s', async (_, asked, error, others) => {
  const [first, second] = [await without(asked[0]?.method ?? '', error), await echo()]
  expect(await rpcOf(first, second).send(asked)).toEqual([{ error }, ...others])
  expect(second.seen.requests).toBe(0)
})

const partly = [{ result: 'partly' }, { error: LIMIT }]

it('the answers with the most results stand where none are whole, whichever come first', async () => {
  const broken = await node((batch) => batch.map(({ id }) => ({ id, error: INTERNAL })))
  const limited = await limitedInOne()
  expect(await rpcOf(limited, broken).send(calls)).toEqual(partly)
  expect(await rpcOf(broken, limited).send(calls)).toEqual(partly)
})

it('a rate limit in one of the answers is handed on with the other answers when no other node is healthy', async () => {
  const gone = await node(() => ({}), 500)
  const transport = rpcOf(await limitedInOne(), gone)
  for (let time = 0; time < 2; time++) expect(await transport.send(calls)).toEqual(partly)
  expect(gone.seen.requests).toBe(1)
})

it('a rate limit in the answer of a query for events may be the fault of the query, and sets nothing aside', async () => {
  const good = await echo()
  const transport = rpcOf(await limitedInOne(), good)
  const queries = calls.map(({ params }) => ({ method: 'eth_getLogs', params }))
  for (let time = 0; time < 2; time++) expect(await transport.send(queries)).toEqual(partly)
  expect(good.seen.requests).toBe(0)
})

it('a request fails without naming a URL when no node answers', async () => {
  const bad = await node(() => ({}), 500)
  const failure = rpcOf(bad, { url: 'http://127.0.0.1:9/key-in-path' }).send(calls)
  await expect(failure).rejects.toMatchObject({ name: 'ChainUnavailableError' })
  await expect(failure).rejects.not.toThrow(/127\.0\.0\.1|key-in-path/)
})
