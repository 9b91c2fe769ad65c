// What becomes of a transaction and its receipt while fees, chain and nodes change.
import { expect, test } from 'vitest'
import type { Hex } from '../../../src/protocol/hex.js'
import { confirmed } from '../../../src/server/relay/record.js'
import { readTransaction } from '../../../src/server/signer/transaction.js'
import { createReceiptStore } from '../../../src/server/store/receipts.js'
import {
  batchMint,
  digestOf,
  grantedOrder,
  portfolioUpdate,
  signedCall,
} from '../../support/authorizations.js'
import { INTERFACES } from '../../support/chain.js'
import { type ProxiedCall, startFaultProxy } from '../../support/faultProxy.js'
import { AAPL, shares } from '../../support/institution.js'
import { createLogLines } from '../../support/logLines.js'
import { openStores } from '../../support/stores.js'
import {
  MINT,
  mine,
  minedOfRelayer,
  pooled,
  receiptOf,
  soon,
  startRelay,
  stopMining,
  storedRecord,
  useMintChain,
} from './relayUnderTest.js'

const { chain, digest } = useMintChain()

function marketFees(raw: Hex) {
  const { fees } = readTransaction(raw)
  if (fees.type !== 2) throw new Error('expected a transaction of type 2')
  return fees
}

/** The stored transactions that may be sent again. */
const transactionsOf = async (dataDir: string) =>
  (await storedRecord(dataDir, digest()))?.transactions.flatMap(({ nonce, raw }) =>
    raw === undefined ? [] : [{ nonce, ...marketFees(raw) }],
  ) ?? []

test('an unmined transaction is sent again under its nonce for 12.5 % more, up to the ceiling', async () => {
  const env = { RELAY_RESUBMIT_AFTER: '50ms', RELAY_MAX_FEE: '4' }
  const relay = await startRelay({ chain: chain(), env })
  await stopMining(chain())
  const before = await minedOfRelayer(chain())
  const pending = relay.relay(MINT)
  await soon(async () => (await transactionsOf(relay.dataDir)).length).toBeGreaterThan(2)
  const raises = await transactionsOf(relay.dataDir)
  for (const [index, newer] of raises.slice(1, 3).entries()) {
    const older = raises[index]
    expect(newer.nonce).toBe(older?.nonce)
    for (const fee of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const)
      expect(newer[fee] * 1_000n).toBeGreaterThanOrEqual((older?.[fee] ?? 0n) * 1_125n)
  }
  await soon(() => relay.log.text().match(/transaction resubmitted/g)?.length ?? 0).toBeGreaterThan(12)
  for (const { maxFeePerGas } of await transactionsOf(relay.dataDir)) {
    expect(maxFeePerGas).toBeLessThanOrEqual(4_000_000_000n)
  }
  await mine(chain())
  expect((await pending).body.status).toBe('confirmed')
  expect(await minedOfRelayer(chain())).toBe(before + 1)
})

test('a given-up transaction is confirmed, not failed, if it is mined nevertheless', async () => {
  const relay = await startRelay({ chain: chain() })
  await stopMining(chain())
  const pending = relay.relay(MINT)
  await soon(() => pooled(chain())).toBe(1)
  const { raw = '' } = (await storedRecord(relay.dataDir, digest()))?.transactions[0] ?? {}
  const from = chain().account('relayer')
  const nonce = await minedOfRelayer(chain())
  const state: unknown = await chain().provider.send('evm_snapshot', [])
  await chain().provider.send('anvil_dropAllTransactions', [])
  await chain().provider.send('eth_sendTransaction', [{ from, to: from, nonce: `0x${nonce.toString(16)}` }])
  // The same batch by another authorization, sent by somebody else: ours would revert now.
  const [, method, ...args] = signedCall(chain(), batchMint(AAPL, shares(9)))
  const data = INTERFACES.pool.encodeFunctionData(method, args)
  const to = chain().addresses.platformPool
  await chain().provider.send('eth_sendTransaction', [{ from: chain().account('dave'), to, data }])
  await mine(chain())
  expect(receiptOf(await pending)).toMatchObject({ status: 'failed', error: { name: 'BatchConflict' } })
  await chain().provider.send('evm_revert', [state])
  await chain().provider.send('anvil_dropAllTransactions', [])
  await chain().provider.send('eth_sendRawTransaction', [raw])
  await mine(chain())
  expect((await relay.get(digest())).body).toMatchObject({ status: 'confirmed', error: null })
})

test('an authorization that was reorganized away is put back, sent again, and confirmed in its new block', async () => {
  const relay = await startRelay({ chain: chain() })
  const before = await minedOfRelayer(chain())
  const first = receiptOf(await relay.relay(MINT))
  await chain().provider.send('anvil_reorg', [1, []])
  expect(await chain().read('pool', 'usedDigest', digest())).toBe(false)
  await soon(() => chain().read('pool', 'usedDigest', digest())).toBe(true)
  await soon(async () => (await relay.get(digest())).body.status).toBe('confirmed')
  const second = receiptOf(await relay.get(digest()))
  expect(second).toMatchObject({ txHash: first.txHash, createdAt: first.createdAt })
  const mined = await chain().provider.getTransactionReceipt(first.txHash ?? '')
  expect(second.blockNumber).toBe(mined?.blockNumber)
  expect((await storedRecord(relay.dataDir, digest()))?.transactions).toHaveLength(1)
  expect(await minedOfRelayer(chain())).toBe(before + 1)
})

test('an authorization stays confirmed while blocks above it are reorganized', async () => {
  const relay = await startRelay({ chain: chain() })
  const first = await relay.relay(MINT)
  const other = portfolioUpdate(grantedOrder(chain().account('dave')))
  await relay.relay(other)
  await chain().provider.send('anvil_reorg', [1, []])
  await soon(() => relay.log.text()).toContain('transaction put back')
  await soon(async () => (await relay.get(digestOf(chain(), other))).body.status).toBe('confirmed')
  expect((await relay.get(digest())).body).toEqual(first.body)
})

const asksForReceipt = ({ method }: ProxiedCall) => method === 'eth_getTransactionReceipt'

async function startBehindProxy() {
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  return { proxy, relay: await startRelay({ chain: chain(), rpcUrl: proxy.url }) }
}

test('a receipt stays as it is when a node finds old transactions no more', async () => {
  const { proxy, relay } = await startBehindProxy()
  const receipt = receiptOf(await relay.relay(MINT))
  const record = await storedRecord(relay.dataDir, digest())
  await mine(chain())
  proxy.answer = (call) => (asksForReceipt(call) ? { result: null } : undefined)
  expect(receiptOf(await relay.get(digest()))).toEqual(receipt)
  expect(receiptOf(await relay.relay(MINT))).toEqual(receipt)
  expect(await storedRecord(relay.dataDir, digest())).toEqual(record)
})

test('a receipt that says by somebody else is put right once its own transaction is found', async () => {
  const { relay } = await startBehindProxy()
  const { dataDir } = relay
  const { txHash, blockNumber, gasUsed } = receiptOf(await relay.relay(MINT))
  await relay.stop()
  const { engine } = await openStores(dataDir)
  const store = createReceiptStore({ engine, logger: createLogLines().logger })
  const stored = await store.find(digest())
  if (stored === undefined) throw new Error('nothing is stored')
  await engine.transact([store.toChange(confirmed(stored.record, null), stored.version)])
  const again = await startRelay({ chain: chain(), dataDir })
  expect(receiptOf(await again.get(digest()))).toMatchObject({ txHash, blockNumber, gasUsed })
  expect((await storedRecord(dataDir, digest()))?.receipt).toMatchObject({ txHash, blockNumber, gasUsed })
})

test('its own transaction is looked for twice before an effect is called that of somebody else', async () => {
  const { proxy, relay } = await startBehindProxy()
  const isLost = () => relay.log.text().includes('nonce lost')
  let left = 1
  proxy.answer = (call) => {
    if (!asksForReceipt(call) || (isLost() && left-- <= 0)) return undefined
    return { result: null }
  }
  const receipt = receiptOf(await relay.relay(MINT))
  expect([receipt.status, isLost()]).toEqual(['confirmed', true])
  expect(receipt.txHash).not.toBeNull()
})

test('a server that loses its directory has no second effect when it is asked again', async () => {
  const first = await startRelay({ chain: chain() })
  await stopMining(chain())
  await first.relay(MINT, { Prefer: 'wait=0' })
  await soon(() => pooled(chain())).toBe(1)
  await first.stop()
  const again = await startRelay({ chain: chain() })
  const response = again.relay(MINT)
  await soon(() => pooled(chain())).toBe(2)
  await mine(chain())
  // Its own transaction reverted, as the forgotten one was first.
  expect(receiptOf(await response)).toMatchObject({ status: 'confirmed', txHash: null, error: null })
  expect(await chain().read('token', 'totalSupply', AAPL)).toBe(shares(5))
})
