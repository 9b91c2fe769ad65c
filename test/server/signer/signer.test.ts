import { getAddress, Transaction } from 'ethers'
import fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'
import { bytesToHex, type Hex } from '../../../src/protocol/hex.js'
import { MAX_CHAIN_ID } from '../../../src/protocol/identifiers.js'
import { createPrivateKey, createRelayerSigner } from '../../../src/server/signer/signer.js'
import { readTransaction } from '../../../src/server/signer/transaction.js'
import { Secret } from '../../../src/service/secret.js'

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

const bytes = (length: { min: number; max: number }) =>
  fc.uint8Array({ minLength: length.min, maxLength: length.max }).map(bytesToHex)
const wei = fc.bigInt({ min: 0n, max: 2n ** 96n })
const transaction = fc.record({
  chainId: fc.integer({ min: 1, max: MAX_CHAIN_ID }),
  nonce: fc.nat(),
  to: bytes({ min: 20, max: 20 }).map((hex): Hex => `0x${getAddress(hex).slice(2)}`),
  data: bytes({ min: 0, max: 600 }),
  gasLimit: fc.bigInt({ min: 0n, max: 2n ** 63n }),
  fees: fc.oneof(
    wei.map((gasPrice) => ({ type: 0, gasPrice }) as const),
    fc
      .tuple(wei, wei)
      .map(([tip, rest]) => ({ type: 2, maxFeePerGas: tip + rest, maxPriorityFeePerGas: tip }) as const),
  ),
})

test('a transaction is signed by the account for its chain, and can be read back from its bytes', async () => {
  const signer = createRelayerSigner(createPrivateKey(new Secret<Hex>(`0x${'17'.repeat(32)}`)))
  await fc.assert(
    fc.asyncProperty(transaction, async (call) => {
      const { nonce, hash, raw } = await signer.sign(call)
      const { from, chainId, hash: found } = Transaction.from(raw)
      expect({ from, chainId, found, nonce }).toEqual({
        from: signer.address,
        chainId: BigInt(call.chainId),
        found: hash,
        nonce: call.nonce,
      })
      const { to, data, gasLimit, fees } = call
      expect(readTransaction(raw)).toEqual({ to, data, gasLimit, fees })
    }),
    { numRuns: 30 },
  )
})
