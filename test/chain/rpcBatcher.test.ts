import { expect, test } from 'vitest'
import { createBatcher, type RpcCall } from '../../src/chain/rpc.js'

/** Answers each call with its method and its place, and remembers what came at once. */
function echo() {
  const asked: string[][] = []
  const send = createBatcher(async (calls) => {
    asked.push(calls.map(({ method }) => method))
    if (calls.some(({ method }) => method === 'fail')) throw new Error('no node answered')
    return calls.map(({ method }, place) => ({ result: `${method}${place}` }))
  })
  return { asked, sizes: () => asked.map(({ length }) => length), send }
}

const call = (method: string): RpcCall => ({ method, params: [] })
const resultsOf = (...results: string[]) => results.map((result) => ({ result }))

test('the calls of one turn are one request, and each caller gets the answers to its own', async () => {
  const { sizes, send } = echo()
  const [first, second] = [send([call('a'), call('b')]), send([call('c')])]
  expect([await first, await second]).toEqual([resultsOf('a0', 'b1'), resultsOf('c2')])
  expect(await send([call('d')])).toEqual(resultsOf('d0'))
  expect(sizes()).toEqual([3, 1])
})

test('a request has a hundred calls and a megabyte at most, and the calls of one caller stay together', async () => {
  const { sizes, send } = echo()
  const pairs = Array.from({ length: 75 }, (_, index) => send([call(`x${index}`), call(`y${index}`)]))
  const long = send(Array.from({ length: 120 }, (_, index) => call(`z${index}`)))
  expect((await Promise.all(pairs)).at(-1)).toEqual(resultsOf('x7448', 'y7449'))
  expect(await long).toHaveLength(120)
  expect(sizes()).toEqual([100, 50, 120])
  const large = (name: string) => send([{ method: 'large', params: [name.repeat(400_000)] }])
  await Promise.all([large('x'), large('y'), large('z'), send([call('small')])])
  expect(sizes().slice(3)).toEqual([2, 2])
})

test('the same question of several callers is asked once, and as often as one caller asks it', async () => {
  const { sizes, send } = echo()
  const asked = [[call('a'), call('b'), call('a')], [call('b')], [call('a'), { method: 'a', params: [1] }]]
  const answers = await Promise.all(asked.map((calls) => send(calls)))
  expect(answers.map(({ length }) => length)).toEqual([3, 1, 2])
  expect(sizes()).toEqual([4])
})

test('answers that callers share keep the order in which each of them asks', async () => {
  const { asked, send } = echo()
  const [, log] = await Promise.all([
    send([call('parent')]),
    send([call('last'), call('logs'), call('parent')]),
  ])
  expect(asked).toEqual([['parent', 'last', 'logs', 'parent']])
  expect(log).toEqual(resultsOf('last1', 'logs2', 'parent3'))
})

test('callers that share a request share its failure, and later ones do not', async () => {
  const { send } = echo()
  const failed = await Promise.allSettled([send([call('a')]), send([call('fail')])])
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await send([call('b')])).toEqual(resultsOf('b0'))
})

test('callers with another signal have a request of their own, which that signal ends', async () => {
  const signals: (AbortSignal | undefined)[] = []
  const send = createBatcher(async (calls, signal) => {
    signals.push(signal)
    signal?.throwIfAborted()
    return calls.map(({ method }) => ({ result: method }))
  })
  const stopping = new AbortController()
  const asked = [undefined, stopping.signal, undefined, stopping.signal]
  const answers = asked.map((signal) => send([call('a')], signal))
  stopping.abort(new Error('stopped'))
  const found = await Promise.allSettled(answers)
  expect(found.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected'])
  expect(signals).toEqual([undefined, stopping.signal])
})
