import { expect, test } from 'vitest'
import { hexBetween } from '../../../src/protocol/hex.js'
import { readTransaction } from '../../../src/server/signer/transaction.js'
import { grantedOrder, portfolioUpdate, signedCall } from '../../support/authorizations.js'
import { startFaultProxy } from '../../support/faultProxy.js'
import { holdStores } from '../../support/storedRows.js'
import { useUtcDay } from '../../support/utcDay.js'
import {
  asKilledNow,
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

useUtcDay(60_000)

// False statements of a node, a record or an answer, and the consequences that they must not have.

const { chain, digest } = useMintChain()
/** Code that takes a view without arguments to be false, and reverts with anything longer. */
const REVERTING = '0x36602414600b57600080fd5b60206000f3'

async function withCode<T>(code: string, action: () => Promise<T>): Promise<T> {
  const at = chain().addresses.platformPool
  const own = await chain().provider.getCode(at)
  await chain().provider.send('anvil_setCode', [at, code])
  try {
    return await action()
  } finally {
    await chain().provider.send('anvil_setCode', [at, own])
  }
}

/** Posted, mined and reverted. */
async function failOnce(relay: Awaited<ReturnType<typeof startRelay>>) {
  await stopMining(chain())
  const pending = relay.relay(MINT)
  await soon(() => pooled(chain())).toBe(1)
  await withCode(REVERTING, () => mine(chain()))
  const receipt = receiptOf(await pending)
  expect(receipt.status).toBe('failed')
  return receipt
}

test('where no contract is nothing is sent, although the call succeeds', async () => {
  const relay = await startRelay({ chain: chain() })
  const before = await minedOfRelayer(chain())
  const response = await withCode('0x', () => relay.relay(MINT))
  expect([response.status, response.body.code]).toEqual([503, 'chain-unavailable'])
  expect(await minedOfRelayer(chain())).toBe(before)
})

test('a transaction that was mined without a log of the contract has had no effect', async () => {
  const relay = await startRelay({ chain: chain() })
  await stopMining(chain())
  const pending = relay.relay(MINT)
  await soon(() => pooled(chain())).toBe(1)
  // It succeeds, whatever it is called with, and says that no digest is used.
  await withCode('0x60206000f3', async () => {
    await mine(chain())
    expect(receiptOf(await pending).status).toBe('failed')
  })
})

test('an earlier attempt that reverted says nothing of the one that follows it', async () => {
  const relay = await startRelay({ chain: chain() })
  const { dataDir } = relay
  await failOnce(relay)
  await relay.relay(MINT, { Prefer: 'wait=0' })
  await soon(() => pooled(chain())).toBe(1)
  expect((await storedRecord(dataDir, digest()))?.transactions).toHaveLength(2)
  const left = await asKilledNow(dataDir)
  await relay.stop()
  const from = chain().account('relayer')
  const nonce = `0x${(await minedOfRelayer(chain())).toString(16)}`
  await chain().provider.send('anvil_dropAllTransactions', [])
  await chain().provider.send('eth_sendTransaction', [{ from, to: from, nonce }])
  for (let block = 0; block < 8; block++) await mine(chain())
  await chain().provider.send('evm_setAutomine', [true])
  const again = await startRelay({ chain: chain(), dataDir: left })
  await soon(async () => (await again.get(digest())).body.status).toBe('confirmed')
})

/** Every node refuses the call, and takes a no-op. */
async function startRefused(env: Record<string, string>) {
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  const relayer = chain().account('relayer')
  const variables = { RELAY_RESUBMIT_AFTER: '100ms', ...env }
  const relay = await startRelay({ chain: chain(), rpcUrl: proxy.url, env: variables })
  const raw = hexBetween(1, 100_000)
  proxy.answer = ({ method, params }) =>
    method === 'eth_sendRawTransaction' && readTransaction(raw.parse(params[0])).to !== relayer
      ? { error: { code: -32_000, message: 'refused by policy' } }
      : undefined
  return { proxy, relay }
}

test('a transaction that no node takes uses at most the gas of the day, however often it goes out', async () => {
  const { relay } = await startRefused({ RELAY_DAILY_GAS: '200000' })
  await relay.relay(MINT, { Prefer: 'wait=0' })
  await soon(() => relay.log.text()).toContain('relay-budget-exhausted')
  expect((await relay.health()).gasRemaining).toBeGreaterThanOrEqual(0n)
})

test('an authorization that no node takes under five nonces has failed, with the bytes of the last one alone, and may be posted again', async () => {
  const { proxy, relay } = await startRefused({})
  const before = await minedOfRelayer(chain())
  expect(receiptOf(await relay.relay(MINT))).toMatchObject({
    status: 'failed',
    txHash: null,
    error: { name: 'RefusedByNodes', args: {} },
  })
  expect(await minedOfRelayer(chain())).toBe(before + 5)
  const { transactions = [] } = (await storedRecord(relay.dataDir, digest())) ?? {}
  expect(new Set(transactions.map(({ nonce }) => nonce)).size).toBe(5)
  for (const { nonce, raw } of transactions) expect(raw !== undefined).toBe(nonce === before + 4)
  proxy.answer = () => undefined
  expect(receiptOf(await relay.relay(MINT))).toMatchObject({ status: 'confirmed', error: null })
})

test('a receipt that was asked for while it was ended anew is not written over', async () => {
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  const relay = await startRelay({ chain: chain(), rpcUrl: proxy.url })
  await failOnce(relay)
  await chain().provider.send('evm_setAutomine', [true])
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  let isHeld = false
  proxy.hold = () => {
    isHeld = true
    return held
  }
  const asked = relay.get(digest())
  await soon(() => isHeld).toBe(true)
  proxy.hold = () => undefined
  const { txHash } = receiptOf(await relay.relay(MINT))
  release()
  expect(receiptOf(await asked).txHash).toBe(txHash)
  expect((await storedRecord(relay.dataDir, digest()))?.transactions).toHaveLength(2)
})

test('a transaction that is not in its block any more has not brought about what somebody else did', async () => {
  const relay = await startRelay({ chain: chain() })
  const { dataDir } = relay
  const state: unknown = await chain().provider.send('evm_snapshot', [])
  expect(receiptOf(await relay.relay(MINT)).txHash).not.toBeNull()
  await relay.stop()
  await chain().provider.send('evm_revert', [state])
  const [contract, method, struct, signature] = signedCall(chain(), MINT)
  await chain().send('dave', contract, method, struct, signature)
  for (const ask of ['get', 'post'] as const) {
    const again = await startRelay({ chain: chain(), dataDir: await asKilledNow(dataDir) })
    const response = await (ask === 'get' ? again.get(digest()) : again.relay(MINT))
    expect(receiptOf(response)).toMatchObject({ status: 'confirmed', txHash: null, blockNumber: null })
  }
})

test('a record that a failing disk keeps from being put back is put back once the disk works', async () => {
  const relay = await startRelay({ chain: chain() })
  await relay.relay(MINT)
  const mend = holdStores(relay.dataDir)
  await chain().provider.send('anvil_reorg', [1, []])
  await soon(() => relay.log.text()).toContain('transaction not put back')
  mend()
  await soon(() => chain().read('pool', 'usedDigest', digest())).toBe(true)
})

test('a transaction whose end a failing disk does not take has used its gas once', async () => {
  const relay = await startRelay({ chain: chain() })
  const { gasRemaining } = await relay.health()
  await stopMining(chain())
  await relay.relay(MINT, { Prefer: 'wait=0' })
  await soon(() => pooled(chain())).toBe(1)
  const mend = holdStores(relay.dataDir)
  await mine(chain())
  await soon(() => relay.log.text().split('relay step failed').length).toBeGreaterThan(3)
  mend()
  await soon(async () => (await relay.get(digest())).body.status).toBe('confirmed')
  const { gasUsed } = receiptOf(await relay.get(digest()))
  await soon(async () => (await relay.health()).gasRemaining).toBe(gasRemaining - (gasUsed ?? 0n))
})

test('a preferred node that becomes one of another chain is noticed, and the next one believed', async () => {
  const odd = await startFaultProxy(chain().anvil.rpcUrl)
  const rpcUrl = `${odd.url},${chain().anvil.rpcUrl}`
  const relay = await startRelay({ chain: chain(), rpcUrl, env: { RELAY_RESUBMIT_AFTER: '500ms' } })
  await relay.relay(portfolioUpdate(grantedOrder(chain().account('dave'))))
  const results: Record<string, unknown> = {
    eth_chainId: '0x1',
    eth_getTransactionCount: '0x0',
    eth_getTransactionReceipt: null,
    eth_getTransactionByHash: null,
  }
  odd.answer = ({ method, params: [place] }) => {
    if (method in results) return { result: results[method] }
    const number = place === 'latest' ? '0xffff' : place
    const fields = { timestamp: '0x1', gasLimit: '0x1c9c380', baseFeePerGas: '0x1' }
    const block = { number, hash: `0x${'ab'.repeat(32)}`, ...fields }
    return method === 'eth_getBlockByNumber' ? { result: block } : undefined
  }
  expect((await relay.relay(MINT)).body.status).toBe('confirmed')
})
