import { expect, it } from 'vitest'
import { useNodes } from './nodesUnderTest.js'

const { startNode, transportOf, pass } = useNodes()
const HEADS_MS = 5_000

function comparing(...nodes: Awaited<ReturnType<typeof startNode>>[]) {
  const rpc = transportOf(...nodes)
  /** One request when the next comparison is due, and waits for that. */
  async function compare(): Promise<void> {
    pass(HEADS_MS)
    const questions = () => nodes.map(({ asked }) => asked.filter((m) => m === 'eth_blockNumber').length)
    const before = questions()
    await rpc.ask()
    const answered = () => nodes.map((_, index) => rpc.requests.filter(([node]) => node === index).length)
    await expect.poll(questions, { interval: 1 }).toEqual(before.map((count) => count + 1))
    await expect.poll(answered, { interval: 1 }).toEqual(nodes.map(({ sizes }) => sizes.length))
    // The answers' consequences follow in the same turn.
    await new Promise(setImmediate)
  }
  return { ...rpc, compare }
}

it('a node that stays behind another is set aside after ten seconds, and is back once it has caught up', async () => {
  const [first, second] = [await startNode('first'), await startNode('second')]
  const { transport, changes, ask, compare } = comparing(first, second)
  for (let round = 0; round < 3; round++) {
    await compare()
    second.head += 10
  }
  await compare()
  expect(changes).toEqual([])
  await compare()
  expect(changes).toEqual([[0, 'behind']])
  expect(transport.faults()).toEqual(['behind', null])
  expect(await ask()).toBe('second')
  first.head = second.head
  await compare()
  expect(await ask()).toBe('first')
  expect(changes.slice(1)).toEqual([[0, null]])
})

it('a node that stays behind another by less than the time between two comparisons is used, however quick the chain', async () => {
  const [first, second] = [await startNode('first'), await startNode('second', { head: 120 })]
  const { changes, ask, compare } = comparing(first, second)
  for (let round = 0; round < 8; round++) {
    first.head += 50
    second.head += 50
    await compare()
  }
  expect([await ask(), changes]).toEqual(['first', []])
})

it('a node that stays behind another is asked when all others fail', async () => {
  const [first, second] = [await startNode('first'), await startNode('second', { head: 200 })]
  const { transport, ask, compare } = comparing(first, second)
  for (let round = 0; round < 4; round++) await compare()
  second.manner = '500'
  expect(await ask()).toBe('first')
  expect(transport.faults()).toEqual(['behind', 'no-answer'])
  second.manner = 'well'
  expect(await ask()).toBe('second')
})

it('a node that answers, and has no head is set aside like one that stays behind, while another has one', async () => {
  const [first, second] = [await startNode('first'), await startNode('second')]
  const { changes, ask, compare } = comparing(first, second)
  first.hasHead = false
  for (let round = 0; round < 3; round++) await compare()
  expect([await ask(), changes]).toEqual(['second', [[0, 'behind']]])
  first.hasHead = true
  await compare()
  expect(await ask()).toBe('first')
})

it('heads that go down together are those of a chain that was reset', async () => {
  const nodes = [await startNode('first', { head: 1_000 }), await startNode('second', { head: 1_000 })]
  const { changes, compare } = comparing(...nodes)
  await compare()
  for (const node of nodes) node.head = 5
  for (let round = 0; round < 4; round++) await compare()
  expect(changes).toEqual([])
})
