import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createReadLane } from '../../src/chain/readLane.js'
import type { NodeFault, RpcAnswer, RpcCall } from '../../src/chain/rpc.js'
import { handled } from '../support/handled.js'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** A provider whose plan has so many calls a second; it counts what reaches it. */
function limitedNode(plan: number, otherFaults: readonly (NodeFault | null)[] = []) {
  let used = 0
  let isRefusing = false
  const perSecond: number[] = []
  return {
    perSecond,
    nextSecond() {
      perSecond.push(used)
      used = 0
    },
    faults: (): (NodeFault | null)[] => [isRefusing ? 'rate-limit' : null, ...otherFaults],
    async send(calls: readonly RpcCall[]): Promise<RpcAnswer[]> {
      used += calls.length
      isRefusing = used > plan
      return calls.map(() => ({ result: null }))
    },
  }
}

const CALL = [{ method: 'eth_call', params: [] }]
const ANSWER = [{ result: 'eth_call' }]
const turn = () => new Promise((resolve) => setImmediate(resolve))

async function play(node: ReturnType<typeof limitedNode>, seconds: number): Promise<void> {
  const lane = createReadLane(node)
  for (let reader = 0; reader < 10_000; reader++) void lane.send(CALL)
  for (let second = 0; second < seconds; second++) {
    for (let round = 0; round < 3; round++) await turn()
    node.nextSecond()
    await vi.advanceTimersByTimeAsync(1_000)
  }
}

test('a plan that is used up leaves the reads a share of it, which they seldom exceed, while no other node is in order', async () => {
  const node = limitedNode(30)
  await play(node, 300)
  // Halved below the plan at once, then back by a hundredth each second.
  const settled = node.perSecond.slice(5)
  expect(Math.max(...settled)).toBeLessThanOrEqual(31)
  expect(settled.filter((count) => count > 30).length).toBeLessThan(10)
  expect(Math.min(...settled)).toBeGreaterThan(5)
  // Another node is in order.
  const relieved = limitedNode(30, [null])
  await play(relieved, 1)
  expect(relieved.perSecond[0]).toBeGreaterThan(100)
})

test('a client that asks for much delays itself, and no other', async () => {
  const order: string[] = []
  let client = 'reader'
  const lane = createReadLane(
    {
      faults: () => [null],
      async send(calls) {
        for (const { method } of calls) order.push(method)
        return calls.map(() => ({ result: null }))
      },
    },
    { current: () => client, charge: () => undefined },
  )
  expect(lane.hasRoom()).toBe(true)
  const reads = Array.from({ length: 1_000 }, () => handled(lane.send([{ method: 'read', params: [] }])))
  client = 'employee'
  expect(lane.hasRoom()).toBe(false)
  const own = handled(lane.send([{ method: 'own', params: [] }]))
  await Promise.all([...reads, own])
  expect(order).toHaveLength(1_001)
  expect(order.indexOf('own')).toBeLessThan(2)
  expect(lane.hasRoom()).toBe(true)
})

test('a read gets its own answer or failure, and the later ones go on', async () => {
  const failure = new Error('no node answers')
  let asked = 0
  const lane = createReadLane({
    faults: () => [null],
    async send(calls) {
      asked += 1
      if (asked === 1) throw failure
      return calls.map(({ method }) => ({ result: method }))
    },
  })
  const reads = [handled(lane.send(CALL)), handled(lane.send(CALL))]
  await expect(reads[0]).rejects.toBe(failure)
  expect([await reads[1], await lane.send(CALL)]).toEqual([ANSWER, ANSWER])
})
