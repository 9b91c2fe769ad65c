import { expect, test } from 'vitest'
import { createRpcBatcher } from '../../src/chain/rpcBatcher.js'
import type { RpcCall } from '../../src/chain/rpcTransport.js'

/** Answers each call with its method, and remembers how many came at once. */
function echo() {
  const sizes: number[] = []
  const send = async (calls: readonly RpcCall[]) => {
    sizes.push(calls.length)
    if (calls.some(({ method }) => method === 'fail')) throw new Error('no node answered')
    return calls.map(({ method }) => ({ result: method }))
  }
  return { sizes, batcher: createRpcBatcher({ send }) }
}

const call = (method: string): RpcCall => ({ method, params: [] })

test('what is asked in one turn is one request, and everyone gets the answers to his own calls', async () => {
  const { sizes, batcher } = echo()
  const first = batcher.send([call('a'), call('b')])
  const second = batcher.send([call('c')])
  expect(await first).toEqual([{ result: 'a' }, { result: 'b' }])
  expect(await second).toEqual([{ result: 'c' }])
  expect(await batcher.send([call('d')])).toEqual([{ result: 'd' }])
  expect(sizes).toEqual([3, 1])
})

test('a request has a hundred calls at most, and nobody’s calls are parted', async () => {
  const { sizes, batcher } = echo()
  const pairs = Array.from({ length: 75 }, (_, index) => batcher.send([call(`x${index}`), call(`y${index}`)]))
  const long = batcher.send(Array.from({ length: 120 }, (_, index) => call(`z${index}`)))
  expect((await Promise.all(pairs)).at(-1)).toEqual([{ result: 'x74' }, { result: 'y74' }])
  expect(await long).toHaveLength(120)
  expect(sizes).toEqual([100, 50, 120])
})

test('what several ask alike is asked once', async () => {
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

test('a request has room for a megabyte at most', async () => {
  const { sizes, batcher } = echo()
  const large = (name: string) => batcher.send([{ method: 'large', params: [name.repeat(400_000)] }])
  await Promise.all([large('x'), large('y'), large('z'), batcher.send([call('small')])])
  expect(sizes).toEqual([2, 2])
})

test('those who share a request share its failure, and nobody else', async () => {
  const { batcher } = echo()
  const failed = await Promise.allSettled([batcher.send([call('a')]), batcher.send([call('fail')])])
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await batcher.send([call('b')])).toEqual([{ result: 'b' }])
})
