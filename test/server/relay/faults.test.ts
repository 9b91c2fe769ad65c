import { describe, expect, test } from 'vitest'
import type { Hex } from '../../../src/protocol/hex.js'
import { readTransaction } from '../../../src/server/signer/transaction.js'
import { batchMint, signedCall } from '../../support/authorizations.js'
import { INTERFACES } from '../../support/chain.js'
import { type Fault, startFaultProxy } from '../../support/faultProxy.js'
import { AAPL, shares } from '../../support/institution.js'
import { MINT, useMintChain } from './mint.js'
import {
  bodyOf,
  mine,
  minedOfRelayer,
  pooled,
  receiptOf,
  soon,
  startRelay,
  stopMining,
  storedRecord,
} from './relayUnderTest.js'

const { chain, digest } = useMintChain()

async function start(options: { env?: Record<string, string>; rpcUrl?: string } = {}) {
  const relay = await startRelay({ chain: chain(), ...options })
  return { dataDir: relay.dataDir, relay }
}

/** Another authorization of the same batch, sent by somebody else. */
function otherMint(): object {
  const [, method, struct, signature] = signedCall(chain(), batchMint(AAPL, shares(9)))
  return {
    from: chain().account('dave'),
    to: chain().addresses.platformPool,
    data: INTERFACES.pool.encodeFunctionData(method, [struct, signature]),
  }
}

function marketFees(raw: Hex) {
  const { fees } = readTransaction(raw)
  if (fees.type !== 2) throw new Error('expected a transaction of type 2')
  return fees
}

/** The stored parts of transactions that may be sent again. */
const transactionsOf = async (dataDir: string) =>
  (await storedRecord(dataDir, digest()))?.transactions.flatMap(({ nonce, raw }) =>
    raw === undefined ? [] : [{ nonce, ...marketFees(raw) }],
  ) ?? []

describe('a node', () => {
  test.each<Fault>(['drop', 'garbage', 'refuse'])(
    'a node’s failure (%s) before anything is signed is 503 with Retry-After, and nothing is stored',
    async (fault) => {
      const proxy = await startFaultProxy(chain().anvil.rpcUrl)
      const { relay, dataDir } = await start({ rpcUrl: proxy.url })
      proxy.fault = () => fault
      const response = await relay.relay(MINT)
      expect([response.status, response.body.code]).toEqual([503, 'chain-unavailable'])
      expect(Number(response.headers['retry-after'])).toBeGreaterThan(0)
      expect(await storedRecord(dataDir, digest())).toBeUndefined()
      proxy.fault = () => 'none'
      expect((await relay.relay(MINT)).body.status).toBe('confirmed')
    },
  )

  test('no authorization waits for ever because its node was gone after it took the transaction', async () => {
    const proxy = await startFaultProxy(chain().anvil.rpcUrl)
    const { relay } = await start({ rpcUrl: proxy.url })
    await stopMining(chain())
    const before = await minedOfRelayer(chain())
    const pending = relay.relay(MINT)
    await soon(() => pooled(chain())).toBe(1)
    proxy.fault = () => 'drop'
    await mine(chain())
    await soon(() => relay.log.text()).toContain('tick failed')
    proxy.fault = () => 'none'
    expect((await pending).body.status).toBe('confirmed')
    expect(await minedOfRelayer(chain())).toBe(before + 1)
  })

  test('nothing is sent twice because one node counts a transaction before others know of its block', async () => {
    const proxy = await startFaultProxy(chain().anvil.rpcUrl)
    const { relay, dataDir } = await start({ rpcUrl: proxy.url })
    // The chain's signer is read before the node falls behind.
    await relay.post(bodyOf(chain(), MINT, `0x${'0d'.repeat(32)}`))
    let looks = 0
    const behind: Record<string, { result: unknown }> = {
      eth_getTransactionReceipt: { result: null },
      eth_call: { result: `0x${'00'.repeat(32)}` },
      eth_estimateGas: { result: '0x100000' },
    }
    proxy.answer = ({ method }) => {
      if (method === 'eth_getTransactionReceipt') looks++
      return looks <= 20 ? behind[method] : undefined
    }
    expect((await relay.relay(MINT)).body.status).toBe('confirmed')
    expect(await transactionsOf(dataDir)).toHaveLength(1)
  })
})

describe('a transaction', () => {
  test('an unmined transaction is sent again under its nonce for 12.5 % more, up to the ceiling', async () => {
    const env = { RELAY_RESUBMIT_AFTER: '50ms', RELAY_MAX_FEE: '4' }
    const { relay, dataDir } = await start({ env })
    await stopMining(chain())
    const before = await minedOfRelayer(chain())
    const pending = relay.relay(MINT)
    await soon(async () => (await transactionsOf(dataDir)).length).toBeGreaterThan(2)
    const [first, second, third] = await transactionsOf(dataDir)
    for (const [older, newer] of [
      [first, second],
      [second, third],
    ] as const) {
      expect(newer?.nonce).toBe(older?.nonce)
      expect((newer?.maxFeePerGas ?? 0n) * 1_000n).toBeGreaterThanOrEqual(
        (older?.maxFeePerGas ?? 0n) * 1_125n,
      )
      const tips = [older?.maxPriorityFeePerGas ?? 0n, newer?.maxPriorityFeePerGas ?? 0n] as const
      expect(tips[1] * 1_000n).toBeGreaterThanOrEqual(tips[0] * 1_125n)
    }
    await soon(() => relay.log.text().match(/transaction resubmitted/g)?.length ?? 0).toBeGreaterThan(12)
    for (const { maxFeePerGas } of await transactionsOf(dataDir)) {
      expect(maxFeePerGas).toBeLessThanOrEqual(4_000_000_000n)
    }
    await mine(chain())
    expect((await pending).body.status).toBe('confirmed')
    expect(await minedOfRelayer(chain())).toBe(before + 1)
  })

  test('a given-up transaction is confirmed, not failed, if it is mined nevertheless', async () => {
    const { relay, dataDir } = await start()
    await stopMining(chain())
    const pending = relay.relay(MINT)
    await soon(() => pooled(chain())).toBe(1)
    const { raw = '' } = (await storedRecord(dataDir, digest()))?.transactions[0] ?? {}
    const from = chain().account('relayer')
    const nonce = await minedOfRelayer(chain())
    const state: unknown = await chain().provider.send('evm_snapshot', [])
    await chain().provider.send('anvil_dropAllTransactions', [])
    await chain().provider.send('eth_sendTransaction', [{ from, to: from, nonce: `0x${nonce.toString(16)}` }])
    // The same batch by another authorization: ours would revert now.
    await chain().provider.send('eth_sendTransaction', [otherMint()])
    await mine(chain())
    expect(receiptOf(await pending)).toMatchObject({ status: 'failed', error: { name: 'BatchConflict' } })
    await chain().provider.send('evm_revert', [state])
    await chain().provider.send('anvil_dropAllTransactions', [])
    await chain().provider.send('eth_sendRawTransaction', [raw])
    await mine(chain())
    expect((await relay.get(digest())).body).toMatchObject({ status: 'confirmed', error: null })
  })
})
