import { expect, test } from 'vitest'
import type { Hex } from '../../../src/protocol/hex.js'
import { waitPreference } from '../../../src/server/relay/router.js'
import { batchMint } from '../../support/authorizations.js'
import { startFaultProxy } from '../../support/faultProxy.js'
import { AAPL, MSFT, shares } from '../../support/institution.js'
import { ROLES } from '../../support/roles.js'
import { setStoredText, storedText } from '../../support/storedRows.js'
import {
  asKilledNow,
  MINT,
  mine,
  minedOfRelayer,
  pooled,
  type RelayUnderTest,
  receiptOf,
  soon,
  startRelay,
  stopMining,
  storedRecord,
  useMintChain,
} from './relayUnderTest.js'

const { chain, digest } = useMintChain()
const LOSER = batchMint(AAPL, shares(7))

const start = (env: Record<string, string> = {}, rpcUrl?: string) =>
  startRelay({ chain: chain(), env, ...(rpcUrl !== undefined && { rpcUrl }) })

test('an authorization is relayed and answered with its receipt', async () => {
  const relay = await start()
  const response = await relay.relay(MINT)
  expect(response.status).toBe(200)
  expect(response.headers.location).toBe(`/relay/${digest()}`)
  const receipt = receiptOf(response)
  expect(receipt).toMatchObject({
    digest: digest(),
    primaryType: 'BatchMint',
    target: chain().addresses.platformPool,
    status: 'confirmed',
    blockNumber: await chain().provider.getBlockNumber(),
    error: null,
  })
  const mined = await chain().provider.getTransactionReceipt(receipt.txHash ?? '')
  expect(receipt.gasUsed).toBe(mined?.gasUsed)
  expect(await chain().read('pool', 'usedDigest', digest())).toBe(true)
  expect((await relay.get(digest())).body).toEqual(response.body)
})

test('an authorization is relayed once, however often it is posted at the same time', async () => {
  const relay = await start()
  const before = await minedOfRelayer(chain())
  const answers = await Promise.all(Array.from({ length: 24 }, () => relay.relay(MINT)))
  for (const { status, body } of answers) expect([status, body]).toEqual([200, answers[0]?.body])
  expect(await minedOfRelayer(chain())).toBe(before + 1)
})

test('authorizations beyond the limit are refused before anything is signed, the same ones still joined', async () => {
  const relay = await start({ RELAY_MAX_IN_FLIGHT: '1', RELAY_MAX_QUEUED: '0' })
  await stopMining(chain())
  await relay.relay(MINT, { Prefer: 'wait=0' })
  const refused = await relay.relay(batchMint(MSFT, shares(1)))
  expect([refused.status, refused.body.code]).toEqual([503, 'relay-overloaded'])
  const joined = relay.relay(MINT)
  await soon(() => pooled(chain())).toBe(1)
  await mine(chain())
  expect((await joined).body.status).toBe('confirmed')
  await chain().provider.send('evm_setAutomine', [true])
  expect((await relay.relay(batchMint(MSFT, shares(1)))).status).toBe(200)
})

test('a chain that was reset has a confirmed receipt relayed afresh, and until then not shown', async () => {
  const relay = await start()
  const state: unknown = await chain().provider.send('evm_snapshot', [])
  await relay.relay(MINT)
  await chain().provider.send('evm_revert', [state])
  expect((await relay.get(digest())).status).toBe(404)
  const before = await minedOfRelayer(chain())
  expect(receiptOf(await relay.relay(MINT)).status).toBe('confirmed')
  expect(await chain().read('pool', 'usedDigest', digest())).toBe(true)
  expect(await minedOfRelayer(chain())).toBe(before + 1)
  expect((await relay.get(digest())).status).toBe(200)
})

test('a caller is answered 202 with the receipt so far when its time is up, and finds the end later', async () => {
  const relay = await start()
  await stopMining(chain())
  const response = await relay.relay(MINT, { Prefer: 'wait=0' })
  expect(response.status).toBe(202)
  expect(['pending', 'submitted']).toContain(receiptOf(response).status)
  await soon(async () => (await relay.get(digest())).body.status).toBe('submitted')
  const joined = relay.relay(MINT)
  await mine(chain())
  const { status, body } = await joined
  expect([status, body.status]).toEqual([200, 'confirmed'])
  expect((await relay.get(digest())).body).toEqual(body)
})

test('a caller is let go when the server stops', async () => {
  const relay = await start()
  await stopMining(chain())
  const waiting = relay.relay(MINT)
  await soon(async () => (await relay.get(digest())).body.status).toBe('submitted')
  relay.beginToStop()
  expect((await waiting).status).toBe(202)
})

test('an authorization is confirmed at the depth that is configured', async () => {
  const relay = await start({ CONFIRMATIONS: '3' })
  await stopMining(chain())
  await relay.relay(MINT, { Prefer: 'wait=0' })
  await soon(() => pooled(chain())).toBe(1)
  await mine(chain())
  await mine(chain())
  expect((await relay.relay(MINT, { Prefer: 'wait=1' })).body.status).toBe('submitted')
  await mine(chain())
  await soon(async () => (await relay.get(digest())).body.status).toBe('confirmed')
})

/** Two authorizations of one batch in one block, of which the second has to revert: its answer. */
async function loseIn(relay: RelayUnderTest, beforeBlock: () => void = () => undefined) {
  await stopMining(chain())
  await relay.relay(MINT, { Prefer: 'wait=0' })
  await soon(() => pooled(chain())).toBe(1)
  const losing = relay.relay(LOSER)
  await soon(() => pooled(chain())).toBe(2)
  beforeBlock()
  await mine(chain())
  return losing
}

test('an authorization that reverts in its block is answered with the reason and may be posted again; a chain that was reset knows nothing of it', async () => {
  const relay = await start()
  const state: unknown = await chain().provider.send('evm_snapshot', [])
  const response = await loseIn(relay)
  expect(response.status).toBe(200)
  const receipt = receiptOf(response)
  expect(receipt).toMatchObject({
    status: 'failed',
    error: { name: 'BatchConflict', args: { expected: '2', got: '1' } },
    blockNumber: await chain().provider.getBlockNumber(),
  })
  expect(receipt.gasUsed).toBeGreaterThan(0n)
  const again = await relay.relay(LOSER)
  expect(again.status).toBe(422)
  expect(again.body).toMatchObject({ code: 'would-revert', revert: { name: 'BatchConflict' } })
  expect((await relay.get(receipt.digest)).body.status).toBe('failed')
  await chain().provider.send('evm_revert', [state])
  expect((await relay.get(receipt.digest)).status).toBe(404)
})

test('an authorization may revert where no node can tell why any more', async () => {
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  const relay = await start({}, proxy.url)
  const response = await loseIn(relay, () => {
    proxy.answer = ({ method, params }) =>
      method === 'eth_call' && params[1] !== 'latest'
        ? { error: { code: -32_000, message: 'missing trie node' } }
        : undefined
  })
  expect(receiptOf(response)).toMatchObject({ status: 'failed', error: { name: 'unknown' } })
})

test.each([
  [undefined, 20_000],
  ['wait=0', 0],
  ['wait=5', 5_000],
  ['Wait = 5', 5_000],
  ['respond-async, wait=5', 5_000],
  ['wait=5, wait=1', 5_000],
  ['wait=60', 20_000],
  ['wait=-1', 20_000],
  ['wait=1.5', 20_000],
  ['waiter=1', 20_000],
])('Prefer: %s is a wait of %i ms', (header, ms) => {
  expect(waitPreference(header, 20_000)).toBe(ms)
})

const keyOfDave = () => chain().anvil.accounts[ROLES.indexOf('dave')]?.privateKey ?? ''
const senderOf = async (hash: Hex | null) => (await chain().provider.getTransaction(hash ?? ''))?.from

/** The record of a server that was killed after it had saved a transaction and before it sent one. */
async function leaveUnsent(): Promise<string> {
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  proxy.fault = (calls) => (calls.some(({ method }) => method === 'eth_sendRawTransaction') ? 'drop' : 'none')
  const relay = await startRelay({ chain: chain(), rpcUrl: proxy.url })
  await relay.relay(MINT, { Prefer: 'wait=0' })
  await soon(async () => (await storedRecord(relay.dataDir, digest()))?.transactions.length).toBe(1)
  const left = await asKilledNow(relay.dataDir)
  await relay.stop()
  return left
}

test('an authorization left by an account without a key is relayed by another one, once', async () => {
  const dataDir = await leaveUnsent()
  const before = await storedRecord(dataDir, digest())
  const env = { RELAYER_PRIVATE_KEY: keyOfDave() }
  const relay = await startRelay({ chain: chain(), dataDir, env })
  await soon(async () => receiptOf(await relay.get(digest())).status).toBe('confirmed')
  const after = await storedRecord(dataDir, digest())
  expect(await senderOf(after?.receipt.txHash ?? null)).toBe(chain().account('dave'))
  expect(after?.account).toBe(chain().account('dave'))
  // The earlier one is kept by its hash alone: it is looked for, and never sent again.
  expect(after?.transactions[0]).toEqual({ hash: before?.transactions[0]?.hash })
})

test('an authorization that failed under one account is relayed by another when it is possible', async () => {
  const dataDir = await leaveUnsent()
  const stored = JSON.parse(storedText(dataDir, 'relays', digest()) ?? '')
  const error = { name: 'RefusedByNodes', args: {} }
  const failed = { ...stored, receipt: { ...stored.receipt, status: 'failed', txHash: null, error } }
  setStoredText(dataDir, 'relays', digest(), JSON.stringify(failed), false)
  const relay = await startRelay({ chain: chain(), dataDir, env: { RELAYER_PRIVATE_KEY: keyOfDave() } })
  const receipt = receiptOf(await relay.relay(MINT))
  expect(receipt).toMatchObject({ status: 'confirmed', digest: digest() })
  expect(await senderOf(receipt.txHash)).toBe(chain().account('dave'))
})
