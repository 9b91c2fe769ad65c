import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { createRpc } from '../../src/chain/rpc.js'
import { startHttpServer, type TestServer } from '../support/httpServer.js'

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

const callsSchema = z.array(z.object({ id: z.int(), method: z.string() }))
const HEADS_MS = 5_000

/** A node at some block, which says its name when asked who it is. */
async function startNode(name: string, head = 100) {
  const node = { url: '', head, isDown: false, hasHead: true, asked: [] as string[], requests: 0 }
  const server = await startHttpServer(async (request, response) => {
    const calls = callsSchema.parse(JSON.parse(await text(request)))
    node.requests++
    node.asked.push(...calls.map(({ method }) => method))
    const results: Record<string, unknown> = { eth_chainId: '0x1', who: name }
    const answers = calls.map(({ id, method }) => ({
      id,
      result: results[method] ?? (node.hasHead ? `0x${node.head.toString(16)}` : null),
    }))
    response.writeHead(node.isDown ? 500 : 200).end(JSON.stringify(answers))
  })
  servers.push(server)
  node.url = server.url
  return node
}

type Node = Awaited<ReturnType<typeof startNode>>

function transportOf(...nodes: Node[]) {
  const changes: [node: number, fault: string | null][] = []
  const answered = nodes.map(() => 0)
  const transport = createRpc({
    urls: nodes.map(({ url }) => url),
    timeoutMs: 2_000,
    chainId: 1,
    onNodeChange: (node, fault) => changes.push([node, fault]),
    onRequest(node) {
      answered[node] = (answered[node] ?? 0) + 1
    },
  })
  const ask = async () => {
    const [answer] = await transport.send([{ method: 'who', params: [] }])
    return answer && 'result' in answer ? answer.result : undefined
  }

  /** One request when the next comparison is due, and waits for that. */
  async function compare(): Promise<void> {
    now += HEADS_MS
    const questions = () => nodes.map(({ asked }) => asked.filter((m) => m === 'eth_blockNumber').length)
    const before = questions()
    await ask()
    await expect.poll(questions, { interval: 1 }).toEqual(before.map((count) => count + 1))
    await expect.poll(() => answered, { interval: 1 }).toEqual(nodes.map(({ requests }) => requests))
    // The answers' consequences follow in the same turn.
    await new Promise(setImmediate)
  }

  return { transport, changes, ask, compare }
}

it('a node that stays behind another is set aside after ten seconds, and is back once it has caught up', async () => {
  const [first, second] = [await startNode('first'), await startNode('second')]
  const { transport, changes, ask, compare } = transportOf(first, second)
  for (let round = 0; round < 3; round++) {
    await compare()
    second.head += 10
  }
  expect(changes).toEqual([])
  await compare()
  expect(changes).toEqual([])
  await compare()
  expect(changes).toEqual([[0, 'behind']])
  expect(transport.faults()).toEqual(['behind', null])
  expect(await ask()).toBe('second')
  await compare()
  expect(await ask()).toBe('second')
  first.head = second.head
  await compare()
  expect(await ask()).toBe('first')
  expect(changes).toEqual([
    [0, 'behind'],
    [0, null],
  ])
})

it('a node that stays behind another by less than the time between two comparisons is used, however quick the chain', async () => {
  const [first, second] = [await startNode('first', 100), await startNode('second', 120)]
  const { changes, ask, compare } = transportOf(first, second)
  for (let round = 0; round < 8; round++) {
    first.head += 50
    second.head += 50
    await compare()
  }
  expect([await ask(), changes]).toEqual(['first', []])
})

it('a node that stays behind another is asked when all others fail', async () => {
  const [first, second] = [await startNode('first'), await startNode('second', 200)]
  const { transport, ask, compare } = transportOf(first, second)
  for (let round = 0; round < 4; round++) await compare()
  expect(transport.faults()).toEqual(['behind', null])
  second.isDown = true
  expect(await ask()).toBe('first')
  expect(transport.faults()).toEqual(['behind', 'no-answer'])
  second.isDown = false
  expect(await ask()).toBe('second')
})

it('a node that answers, and has no head is set aside like one that stays behind, while another has one', async () => {
  const [first, second] = [await startNode('first'), await startNode('second')]
  const { changes, ask, compare } = transportOf(first, second)
  first.hasHead = false
  for (let round = 0; round < 3; round++) await compare()
  expect([await ask(), changes]).toEqual(['second', [[0, 'behind']]])
  first.hasHead = true
  await compare()
  expect(await ask()).toBe('first')
})

it('heads that go down together are those of a chain that was reset', async () => {
  const nodes = [await startNode('first', 1_000), await startNode('second', 1_000)]
  const { changes, compare } = transportOf(...nodes)
  await compare()
  for (const node of nodes) node.head = 5
  for (let round = 0; round < 4; round++) await compare()
  expect(changes).toEqual([])
})
