import { expect, test } from 'vitest'
import { createBatcher, type RpcCall } from '../../src/chain/rpc.js'

/** Answers each call with its method, and remembers how many came at once. */
function echo() {
  const sizes: number[] = []
  const send = async (calls: readonly RpcCall[]) => {
    sizes.push(calls.length)
    if (calls.some(({ method }) => method === 'fail')) throw new Error('no node answered')
    return calls.map(({ method }) => ({ result: method }))
  }
  return { sizes, request: send, batcher: { send: createBatcher(send) } }
}

const call = (method: string): RpcCall => ({ method, params: [] })

test('the calls of one turn are one request, and each caller gets the answers to its own', async () => {
  const { sizes, batcher } = echo()
  const first = batcher.send([call('a'), call('b')])
  const second = batcher.send([call('c')])
  expect(await first).toEqual([{ result: 'a' }, { result: 'b' }])
  expect(await second).toEqual([{ result: 'c' }])
  expect(await batcher.send([call('d')])).toEqual([{ result: 'd' }])
  expect(sizes).toEqual([3, 1])
})

test('a request has a hundred calls at most, and the calls of one caller stay together', async () => {
  const { sizes, batcher } = echo()
  const pairs = Array.from({ length: 75 }, (_, index) => batcher.send([call(`x${index}`), call(`y${index}`)]))
  const long = batcher.send(Array.from({ length: 120 }, (_, index) => call(`z${index}`)))
  expect((await Promise.all(pairs)).at(-1)).toEqual([{ result: 'x74' }, { result: 'y74' }])
  expect(await long).toHaveLength(120)
  expect(sizes).toEqual([100, 50, 120])
})

test('the same question of several callers is asked once', async () => {
  const { sizes, batcher } = echo()
  const asked = [[call('a'), call('b')], [call('b')], [call('a'), { method: 'a', params: [1] }]]
  const answers = await Promise.all(asked.map((calls) => batcher.send(calls)))
  expect(answers.map((own) => own.map((answer) => 'result' in answer && answer.result))).toEqual([
    ['a', 'b'],
    ['b'],
    ['a', 'a'],
  ])
  expect(sizes).toEqual([3])
})

test('callers that share a request share its failure, and later ones do not', async () => {
  const { batcher } = echo()
  const failed = await Promise.allSettled([batcher.send([call('a')]), batcher.send([call('fail')])])
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await batcher.send([call('b')])).toEqual([{ result: 'b' }])
})

test('callers with another signal have a request of their own, which that signal ends', async () => {
  const signals: (AbortSignal | undefined)[] = []
  const send = createBatcher(async (calls, signal) => {
    signals.push(signal)
    signal?.throwIfAborted()
    return calls.map(({ method }) => ({ result: method }))
  })
  const stopping = new AbortController()
  const asked = [undefined, stopping.signal, undefined, stopping.signal].map((signal) =>
    send([call('a')], signal),
  )
  stopping.abort(new Error('stopped'))
  const found = await Promise.allSettled(asked)
  expect(found.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected'])
  expect(signals).toEqual([undefined, stopping.signal])
})

test('answers that callers share keep the order in which each of them asks', async () => {
  const asked: string[][] = []
  const send = createBatcher(async (calls) => {
    asked.push(calls.map(({ method }) => method))
    return calls.map((_, place) => ({ result: place }))
  })
  const [, log] = await Promise.all([
    send([call('parent')]),
    send([call('last'), call('logs'), call('parent')]),
  ])
  expect(asked).toEqual([['parent', 'last', 'logs', 'parent']])
  expect(log).toEqual([{ result: 1 }, { result: 2 }, { result: 3 }])
})

test('a request has room for a megabyte at most', async () => {
  const { sizes, batcher } = echo()
  const large = (name: string) => batcher.send([{ method: 'large', params: [name.repeat(400_000)] }])
  await Promise.all([large('x'), large('y'), large('z'), batcher.send([call('small')])])
  expect(sizes).toEqual([2, 2])
})

test('a caller that asks twice gets two answers, though other callers share them', async () => {
  const { sizes, batcher } = echo()
  const answers = await Promise.all([
    batcher.send([call('a'), call('b'), call('a')]),
    batcher.send([call('a'), call('b')]),
  ])
  expect(answers.map((own) => own.length)).toEqual([3, 2])
  expect(sizes).toEqual([4])
})
