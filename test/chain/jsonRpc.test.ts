import { expect, onTestFinished, test } from 'vitest'
import { isRateLimited, request, retryAfterMs } from '../../src/chain/jsonRpc.js'
import { eventually } from '../support/eventually.js'
import { keptAt } from '../support/keptAt.js'
import { startRawServer } from '../support/rawServer.js'

const CALLS = [{ method: 'eth_blockNumber', params: [] }]
const ANSWER = JSON.stringify([{ jsonrpc: '2.0', id: 0, result: '0x1' }])

test('a signal that outlives its requests keeps nothing of them', async () => {
  const url = await startRawServer((_req, res) => res.end(ANSWER))
  const { signal } = new AbortController()
  const before = keptAt(signal)
  const warnings: Error[] = []
  const onWarning = (warning: Error) => warnings.push(warning)
  process.on('warning', onWarning)
  onTestFinished(() => {
    process.off('warning', onWarning)
  })
  await Promise.all(Array.from({ length: 30 }, () => request(url, CALLS, 5_000, signal)))
  await eventually('nothing that is kept', () => keptAt(signal) === before)
  expect(warnings).toEqual([])
})

test('a call is beyond the rate by the codes that say so; a query for events, or a transaction, by the one that can mean nothing else', () => {
  const limiting = (method: string, codes: readonly number[]) =>
    codes.filter((code) => isRateLimited({ method, params: [] }, { error: { code, message: 'refused' } }))
  const all = [429, -32_005, -32_007, -32_012, -32_016, 3, -32_000, -32_601, -32_602, -32_603]
  expect(limiting('eth_call', all)).toEqual(all.slice(0, 5))
  for (const method of ['eth_getLogs', 'eth_sendRawTransaction']) expect(limiting(method, all)).toEqual([429])
})

const NOW = Date.parse('Fri, 07 Aug 2026 10:00:00 GMT')

test.each([
  ['30', 30_000],
  [' 0 ', 0],
  ['Fri, 07 Aug 2026 10:00:05 GMT', 5_000],
  ['Fri, 07 Aug 2026 09:59:00 GMT', 0],
  ['-1', undefined],
  ['1.5', undefined],
  ['2026', 2_026_000],
  ['soon', undefined],
  ['', undefined],
  [null, undefined],
])('Retry-After: %s', (header, wanted) => {
  expect(retryAfterMs(header, NOW)).toBe(wanted)
})
