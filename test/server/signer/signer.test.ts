import { expect, onTestFinished, test, vi } from 'vitest'
import { createRelayerSigner } from '../../../src/server/signer/signer.js'

const ADDRESS = `0x${'17'.repeat(20)}` as const

test('a key that never answers is waited for no longer than any key takes to give up', async () => {
  vi.useFakeTimers()
  onTestFinished(() => {
    vi.useRealTimers()
  })
  const signer = createRelayerSigner({ address: ADDRESS, signDigest: () => new Promise(() => {}) })
  const signing = signer.sign({
    chainId: 1,
    nonce: 0,
    to: ADDRESS,
    data: '0x',
    gasLimit: 21_000n,
    fees: { type: 0, gasPrice: 1n },
  })
  const failed = expect(signing).rejects.toMatchObject({ name: 'SigningTimeoutError' })
  await vi.runAllTimersAsync()
  await failed
})
