import type { JsonRpcPayload } from 'ethers'
import { expect, test } from 'vitest'
import { ChainUnavailableError } from '../../src/chain/errors.js'
import { RpcProvider } from '../../src/chain/provider.js'

/** A provider whose node answers with the method, refuses `refused`, and is down for `down`. */
class Echo extends RpcProvider {
  readonly requests: string[][] = []

  constructor() {
    super({ chainId: 1, urls: ['http://127.0.0.1:1'], timeoutMs: 1_000 })
  }

  override async _send(payload: JsonRpcPayload | JsonRpcPayload[]) {
    const payloads = [payload].flat()
    const methods = payloads.map(({ method }) => method)
    this.requests.push(methods)
    if (methods.includes('down')) throw new ChainUnavailableError(1)
    return payloads.map(({ id, method }) =>
      method === 'refused' ? { id, error: { code: -32_000, message: 'no' } } : { id, result: method },
    )
  }
}

test('what is asked in one turn is one request, and a call that is refused fails alone', async () => {
  const provider = new Echo()
  const asked = ['a', 'refused', 'b'].map((method) => provider.send(method, []))
  const found = await Promise.allSettled(asked)
  expect(found.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(found.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))).toEqual(['a', 'b'])
  expect(provider.requests).toEqual([['a', 'refused', 'b']])
})

test('all calls of a request fail with it, and no later one does', async () => {
  const provider = new Echo()
  const failed = await Promise.allSettled([provider.send('a', []), provider.send('down', [])])
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await provider.send('b', [])).toBe('b')
})

test('a request has a hundred calls at most', async () => {
  const provider = new Echo()
  await Promise.all(Array.from({ length: 250 }, (_, n) => provider.send(`m${n}`, [])))
  expect(provider.requests.map(({ length }) => length)).toEqual([100, 100, 50])
})
