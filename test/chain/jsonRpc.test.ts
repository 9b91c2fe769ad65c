import { expect, onTestFinished, test } from 'vitest'
import { request } from '../../src/chain/jsonRpc.js'
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

test('a request ends when its time is over, though no signal does', async () => {
  const url = await startRawServer(() => undefined)
  expect(await request(url, CALLS, 20, new AbortController().signal)).toEqual({ fault: 'no-answer' })
})
