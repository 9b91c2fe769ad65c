import { expect, test } from 'vitest'
import { confirmed } from '../../../src/server/relay/record.js'
import { createReceiptStore } from '../../../src/server/store/receipts.js'
import { type ProxiedCall, startFaultProxy } from '../../support/faultProxy.js'
import { createLogLines } from '../../support/logLines.js'
import { openStores } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { MINT, useMintChain } from './mint.js'
import { mine, receiptOf, startRelay, storedRecord } from './relayUnderTest.js'

// Nodes that know an effect, and do not find the transaction that brought it about.

const { chain, digest } = useMintChain()
const asksForReceipt = ({ method }: ProxiedCall) => method === 'eth_getTransactionReceipt'

async function start(dataDir: string) {
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  return { proxy, relay: await startRelay({ chain: chain(), dataDir, rpcUrl: proxy.url }) }
}

test('a receipt stays as it is when a node finds old transactions no more', async () => {
  const dataDir = await temporaryDirectory()
  const { proxy, relay } = await start(dataDir)
  const receipt = receiptOf(await relay.relay(MINT))
  const record = await storedRecord(dataDir, digest())
  await mine(chain())
  proxy.answer = (call) => (asksForReceipt(call) ? { result: null } : undefined)
  expect(receiptOf(await relay.get(digest()))).toEqual(receipt)
  expect(receiptOf(await relay.relay(MINT))).toEqual(receipt)
  expect(await storedRecord(dataDir, digest())).toEqual(record)
})

test('a receipt that says by somebody else is put right once its own transaction is found', async () => {
  const dataDir = await temporaryDirectory()
  const { relay } = await start(dataDir)
  const { txHash, blockNumber, gasUsed } = receiptOf(await relay.relay(MINT))
  await relay.stop()
  const { engine } = await openStores(dataDir)
  const store = createReceiptStore({ engine, logger: createLogLines().logger })
  const stored = await store.find(digest())
  if (stored === undefined) throw new Error('nothing is stored')
  await engine.transact([store.toChange(digest(), confirmed(stored.record, null), stored.version)])
  const { relay: again } = await start(dataDir)
  expect(receiptOf(await again.get(digest()))).toMatchObject({ txHash, blockNumber, gasUsed })
  expect((await storedRecord(dataDir, digest()))?.receipt).toMatchObject({ txHash, blockNumber, gasUsed })
})

test('its own transaction is looked for twice before an effect is called that of somebody else', async () => {
  const { proxy, relay } = await start(await temporaryDirectory())
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
