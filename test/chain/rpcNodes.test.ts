import { expect, it } from 'vitest'
import { type Manner, useNodes, WHO } from './nodesUnderTest.js'

const { startNode, transportOf, pass } = useNodes()
const soon = { interval: 1 }

/** The first, and a second that behaves well. */
async function two(changes: Parameters<typeof startNode>[1] = {}) {
  const nodes = [await startNode('first', changes), await startNode('second')] as const
  return { first: nodes[0], ...transportOf(...nodes) }
}

it('a node of another chain is not used, and reported as such', async () => {
  const { first, ask, changes } = await two({ chainId: 1 })
  expect(await ask()).toBe('second')
  expect(first.asked).not.toContain('who')
  expect(changes).toEqual([[0, 'other-chain']])
})

it.each<[Manner, string]>([
  ['429', 'rate-limit'],
  ['limited', 'rate-limit'],
  ['500', 'no-answer'],
  ['garbage', 'no-answer'],
  ['silent', 'no-answer'],
])(
  'a node that fails (%s) is left alone, until it has said its chain again after its rest',
  async (manner, fault) => {
    const { first, transport, ask, changes, requests } = await two()
    expect(await ask()).toBe('first')
    first.manner = manner
    for (let time = 0; time < 5; time++) expect(await ask()).toBe('second')
    expect(first.asked).toEqual(['eth_chainId', 'who', 'who'])
    expect([changes, transport.faults()]).toEqual([[[0, fault]], [fault, null]])
    // Each request is reported as answered or not.
    const answers = requests.filter(([node]) => node === 0).map(([, count]) => count)
    expect(answers).toEqual([1, 1, manner === 'limited' ? 1 : null])
    first.manner = 'well'
    pass(1_000)
    await expect.poll(ask, soon).toBe('first')
    expect(first.asked.slice(3)).toEqual(['eth_chainId', 'who'])
    expect(changes.slice(1)).toEqual([[0, null]])
  },
)

it('a node rests twice as long each time, up to a minute', async () => {
  const { first, ask, requests } = await two()
  const failures = () => requests.filter(([node]) => node === 0).length
  first.manner = '500'
  await ask()
  for (const restMs of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
    const before = failures()
    pass(restMs - 1)
    await ask()
    expect(first.asked).toHaveLength(before)
    pass(1)
    await ask()
    await expect.poll(failures, soon).toBe(before + 1)
  }
})

it('requests that fail side by side are one failure, after which a node rests once', async () => {
  const { first, transport, ask } = await two()
  await ask()
  first.manner = '500'
  // Calls of different signals travel apart.
  await Promise.all([1, 2].map(() => transport.send(WHO, new AbortController().signal)))
  expect(first.asked.slice(-2)).toEqual(['who', 'who'])
  first.manner = 'well'
  pass(1_000)
  await expect.poll(ask, soon).toBe('first')
})

it.each<[Manner, string, restMs: number]>([
  ['429', '7', 7_000],
  ['503', '7', 7_000],
  ['503', '0', 1_000],
  ['429', '86400', 60_000],
  ['429', 'soon', 1_000],
])('a node that says %s with Retry-After: %s rests for %i ms', async (manner, retryAfter, restMs) => {
  const { first, ask } = await two({ manner })
  first.retryAfter = retryAfter
  expect(await ask()).toBe('second')
  const before = first.asked.length
  pass(restMs - 1)
  await ask()
  expect(first.asked).toHaveLength(before)
  pass(1)
  await ask()
  await expect.poll(() => first.asked, soon).toHaveLength(before + 1)
})

it.each([
  [{ status: 200, body: '{"id":null,"error":{"code":-32600,"message":"batch too large"}}' }],
  [{ status: 413, body: '' }],
  [{ status: 400, body: 'too many calls' }],
])(
  'a node that takes few calls in one request is asked in parts, and no more than that at once from then on: %j',
  async (refusal) => {
    const node = Object.assign(await startNode('first'), { most: 5, refusal })
    const { transport, ask, changes } = transportOf(node)
    await ask()
    node.sizes.length = 0
    const calls = Array.from({ length: 16 }, (_, index) => ({ method: `call-${index}`, params: [] }))
    expect(await transport.send(calls)).toHaveLength(16)
    expect(await transport.send(calls)).toHaveLength(16)
    expect(node.sizes).toEqual([16, 8, 4, 4, 4, 4, 4, 4, 4, 4])
    expect(node.asked.slice(-16)).toEqual(calls.map(({ method }) => method))
    expect(changes).toEqual([])
  },
)

it('a node that takes few calls in one request is set aside when it takes not even one, and asked for all again later', async () => {
  const { first, transport, ask } = await two()
  await ask()
  first.manner = '400'
  first.sizes.length = 0
  const calls = Array.from({ length: 4 }, () => WHO).flat()
  expect(await transport.send(calls)).toEqual(calls.map(() => ({ result: 'second' })))
  expect(first.sizes).toEqual([4, 2, 1])
  first.manner = 'well'
  pass(60_000)
  await expect.poll(ask, soon).toBe('first')
  first.sizes.length = 0
  await transport.send(calls)
  expect(first.sizes).toEqual([4])
})

it('a call for all nodes goes to each healthy node, and to all when none is known to be healthy', async () => {
  const nodes = [await startNode('first'), await startNode('second'), await startNode('third')]
  const [first, second, third] = nodes
  const { transport, ask } = transportOf(...nodes)
  const askAll = async () => (await transport.toAll((node) => node.send(WHO))).map((answers) => answers?.[0])
  if (second) second.manner = '500'
  await ask()
  await expect.poll(askAll, soon).toEqual([{ result: 'first' }, { result: 'third' }])
  for (const node of nodes) node.manner = '500'
  await ask().catch(() => undefined)
  if (first) first.manner = 'well'
  expect(third?.manner).toBe('500')
  pass(1_000)
  expect(await askAll()).toEqual([{ result: 'first' }, undefined, undefined])
})

it('a node is not set aside because a caller gave up', async () => {
  const first = await startNode('first')
  const { ask, transport, changes } = transportOf(first)
  await ask()
  first.manner = 'silent'
  const abort = new AbortController()
  const failure = transport.send(WHO, abort.signal)
  abort.abort(new Error('no longer wanted'))
  await expect(failure).rejects.toThrow('no longer wanted')
  expect(changes).toEqual([])
})
