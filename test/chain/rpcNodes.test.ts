import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { createRpc } from '../../src/chain/rpc.js'
import { startHttpServer, type TestServer } from '../support/httpServer.js'

const CHAIN_ID = 31_337
const servers: TestServer[] = []
let now = 0
beforeEach(() => {
  now = 1_000
  vi.spyOn(performance, 'now').mockImplementation(() => now)
})
afterEach(async () => {
  vi.restoreAllMocks()
  await Promise.all(servers.splice(0).map((server) => server.stop()))
})

const who = [{ method: 'who', params: [] }]
const callsSchema = z.array(z.object({ id: z.int(), method: z.string() }))

type Manner = 'well' | '429' | '500' | '503' | 'garbage' | 'silent' | 'limited'

const LIMIT = { code: -32_005, message: 'daily request count exceeded' }

/** A node that behaves as told, and remembers what it was asked. */
async function startNode(name: string, manner: Manner = 'well', chainId = CHAIN_ID) {
  const node = { url: '', manner, chainId, retryAfter: '', asked: [] as string[] }
  const server = await startHttpServer(async (request, response) => {
    const calls = callsSchema.parse(JSON.parse(await text(request)))
    node.asked.push(...calls.map(({ method }) => method))
    if (node.manner === 'silent') return
    if (node.manner === 'garbage') return response.end('<html>')
    if (node.manner === 'limited')
      return response.end(JSON.stringify(calls.map(({ id }) => ({ id, error: LIMIT }))))
    if (node.retryAfter !== '') response.setHeader('Retry-After', node.retryAfter)
    const status = node.manner === 'well' ? 200 : Number(node.manner)
    response.writeHead(status).end(JSON.stringify(calls.map((call) => answer(call))))
  })
  const answer = ({ id, method }: { id: number; method: string }) => ({
    id,
    result: method === 'eth_chainId' ? `0x${node.chainId.toString(16)}` : name,
  })
  servers.push(server)
  node.url = server.url
  return node
}

type Node = Awaited<ReturnType<typeof startNode>>

function transportOf(...nodes: Node[]) {
  const changes: [node: number, fault: string | null][] = []
  const requests: [node: number, answers: number | null, durationMs: number][] = []
  const transport = createRpc({
    urls: nodes.map(({ url }) => url),
    timeoutMs: 1_000,
    chainId: CHAIN_ID,
    onNodeChange: (node, fault) => changes.push([node, fault]),
    onRequest: (node, answers, durationMs) => requests.push([node, answers?.length ?? null, durationMs]),
  })
  const ask = async () => (await transport.send([{ method: 'who', params: [] }]))[0]
  const asked = (node: Node) => node.asked.filter((method) => method === 'who').length
  return { transport, changes, requests, ask, asked }
}

const by = (name: string) => ({ result: name })

it('a node of another chain is not used, and reported as such', async () => {
  const [first, second] = [await startNode('first', 'well', 1), await startNode('second')]
  const { ask, asked, changes } = transportOf(first, second)
  expect(await ask()).toEqual(by('second'))
  expect(asked(first)).toBe(0)
  expect(changes).toEqual([[0, 'other-chain']])
})

it('a node is reported as set aside until it is back, and each of its requests as answered or not', async () => {
  const [first, second] = [await startNode('first', '500'), await startNode('second')]
  const { transport, requests, ask } = transportOf(first, second)
  expect(transport.faults()).toEqual([null, null])
  await ask()
  expect(transport.faults()).toEqual(['no-answer', null])
  expect(requests).toEqual([
    [0, null, 0],
    [1, 1, 0],
    [1, 1, 0],
  ])
  first.manner = 'well'
  now += 1_000
  await ask()
  await expect.poll(() => transport.faults()).toEqual([null, null])
})

it.each<[Manner, string]>([
  ['429', 'rate-limit'],
  ['limited', 'rate-limit'],
  ['500', 'no-answer'],
  ['garbage', 'no-answer'],
  ['silent', 'no-answer'],
])('a node that fails (%s) is left alone', async (manner, fault) => {
  const [first, second] = [await startNode('first'), await startNode('second')]
  const { ask, asked, changes } = transportOf(first, second)
  expect(await ask()).toEqual(by('first'))
  first.manner = manner
  for (let time = 0; time < 5; time++) expect(await ask()).toEqual(by('second'))
  expect(asked(first)).toBe(2)
  expect(changes).toEqual([[0, fault]])
})

it('a node comes back after its rest, once it has said its chain again', async () => {
  const [first, second] = [await startNode('first'), await startNode('second')]
  const { ask, changes } = transportOf(first, second)
  await ask()
  first.manner = '500'
  await ask()
  first.manner = 'well'
  expect(await ask()).toEqual(by('second'))
  now += 1_000
  const before = first.asked.length
  await expect.poll(() => ask()).toEqual(by('first'))
  expect(first.asked.slice(before)).toEqual(['eth_chainId', 'who'])
  expect(changes).toEqual([
    [0, 'no-answer'],
    [0, null],
  ])
})

it('a node rests twice as long each time, up to a minute', async () => {
  const [first, second] = [await startNode('first'), await startNode('second')]
  const { ask, requests } = transportOf(first, second)
  const failures = () => requests.filter(([node]) => node === 0).length
  first.manner = '500'
  await ask()
  for (const restMs of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
    const before = failures()
    now += restMs - 1
    await ask()
    expect(first.asked).toHaveLength(before)
    now += 1
    await ask()
    await expect.poll(failures, { interval: 1 }).toBe(before + 1)
  }
})

it('requests that fail side by side are one failure, after which a node rests once', async () => {
  const [first, second] = [await startNode('first'), await startNode('second')]
  const { transport, ask } = transportOf(first, second)
  await ask()
  first.manner = '500'
  // Calls of different signals travel apart.
  await Promise.all([1, 2].map(() => transport.send(who, new AbortController().signal)))
  expect(first.asked.slice(-2)).toEqual(['who', 'who'])
  first.manner = 'well'
  now += 1_000
  await expect.poll(ask).toEqual(by('first'))
})

it.each<[Manner, string, restMs: number]>([
  ['429', '7', 7_000],
  ['503', '7', 7_000],
  ['503', '0', 1_000],
  ['429', '86400', 60_000],
  ['429', 'soon', 1_000],
])('a node that says %s with Retry-After: %s rests for %i ms', async (manner, retryAfter, restMs) => {
  const [first, second] = [await startNode('first', manner), await startNode('second')]
  first.retryAfter = retryAfter
  const { ask } = transportOf(first, second)
  expect(await ask()).toEqual(by('second'))
  const before = first.asked.length
  now += restMs - 1
  await ask()
  expect(first.asked).toHaveLength(before)
  now += 1
  await ask()
  await expect.poll(() => first.asked).toHaveLength(before + 1)
})

const MOST = 5
const refusals = {
  'an error in place of the answers': () => ({
    status: 200,
    body: '{"id":null,"error":{"code":-32600,"message":"batch too large"}}',
  }),
  'status 413': () => ({ status: 413, body: '' }),
  'status 400': () => ({ status: 400, body: 'too many calls' }),
}

it.each(Object.entries(refusals))(
  'a node that takes few calls in one request is asked in parts, and no more than that at once from then on (%s)',
  async (_name, refuse) => {
    const sizes: number[] = []
    const server = await startHttpServer(async (request, response) => {
      const calls = callsSchema.parse(JSON.parse(await text(request)))
      sizes.push(calls.length)
      const { status, body } = refuse()
      if (calls.length > MOST) return response.writeHead(status).end(body)
      response.end(JSON.stringify(calls.map(({ id, method }) => ({ id, result: method }))))
    })
    servers.push(server)
    const changes: unknown[] = []
    const onNodeChange = (...change: unknown[]) => changes.push(change)
    const transport = createRpc({ urls: [server.url], timeoutMs: 1_000, onNodeChange })
    const calls = Array.from({ length: 16 }, (_, index) => ({ method: `call-${index}`, params: [] }))
    const expected = calls.map(({ method }) => ({ result: method }))
    expect(await transport.send(calls)).toEqual(expected)
    expect(sizes).toEqual([16, 8, 4, 4, 4, 4])
    sizes.length = 0
    expect(await transport.send(calls)).toEqual(expected)
    expect(sizes).toEqual([4, 4, 4, 4])
    expect(changes).toEqual([])
  },
)

it('a node that takes few calls in one request is set aside when it takes not even one, and asked for all again later', async () => {
  const node = await startNode('first', '500')
  node.manner = 'well'
  let isDown = true
  const sizes: number[] = []
  const server = await startHttpServer(async (request, response) => {
    const calls = callsSchema.parse(JSON.parse(await text(request)))
    sizes.push(calls.length)
    if (isDown) return response.writeHead(400).end()
    response.end(JSON.stringify(calls.map(({ id }) => ({ id, result: 'second' }))))
  })
  servers.push(server)
  const transport = createRpc({ urls: [server.url, node.url], timeoutMs: 200 })
  const calls = Array.from({ length: 4 }, () => ({ method: 'who', params: [] }))
  expect(await transport.send(calls)).toEqual(calls.map(() => by('first')))
  expect(sizes).toEqual([4, 2, 1])
  isDown = false
  sizes.length = 0
  now += 60_000
  await vi.waitFor(async () =>
    expect(await transport.send(calls)).toEqual(calls.map(() => ({ result: 'second' }))),
  )
  expect(sizes).toEqual([4])
})

it('a call for all nodes goes to each healthy node, and not to one that rests', async () => {
  const nodes = [await startNode('first'), await startNode('second', '500'), await startNode('third')]
  const { transport, ask } = transportOf(...nodes)
  await ask()
  await vi.waitFor(async () =>
    expect(await transport.toAll((node) => node.send(who))).toEqual([[by('first')], [by('third')]]),
  )
})

it('a node is not set aside because a caller gave up', async () => {
  const first = await startNode('first')
  const { ask, transport, changes } = transportOf(first)
  await ask()
  first.manner = 'silent'
  const abort = new AbortController()
  const failure = transport.send([{ method: 'who', params: [] }], abort.signal)
  abort.abort(new Error('no longer wanted'))
  await expect(failure).rejects.toThrow('no longer wanted')
  expect(changes).toEqual([])
})

it('a call for all nodes goes to all when none is known to be healthy', async () => {
  const [first, second] = [await startNode('first', '429'), await startNode('second', '500')]
  const { transport } = transportOf(first, second)
  expect(await transport.toAll((node) => node.send(who))).toEqual([null, null])
  first.manner = 'well'
  expect(await transport.toAll((node) => node.send(who))).toEqual([[by('first')], null])
})
