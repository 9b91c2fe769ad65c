// A server whose account is another one than before.
import { expect, test } from 'vitest'
import type { Hex } from '../../../src/protocol/hex.js'
import { digestOf } from '../../support/authorizations.js'
import { startFaultProxy } from '../../support/faultProxy.js'
import { ROLES, type Role } from '../../support/roles.js'
import { setStoredText, storedText } from '../../support/storedRows.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { MINT, useMintChain } from './mint.js'
import { asKilledNow, receiptOf, soon, startRelay, storedRecord } from './relayUnderTest.js'

const { chain, digest } = useMintChain()

const keyOf = (role: Role) => chain().anvil.accounts[ROLES.indexOf(role)]?.privateKey ?? ''
const senderOf = async (hash: Hex | null) => (await chain().provider.getTransaction(hash ?? ''))?.from

/** The record of a server that was killed after it had saved a transaction and before it sent one. */
async function leaveUnsent(): Promise<string> {
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  proxy.fault = (calls) => (calls.some(({ method }) => method === 'eth_sendRawTransaction') ? 'drop' : 'none')
  const dataDir = await temporaryDirectory()
  const relay = await startRelay({ chain: chain(), dataDir, rpcUrl: proxy.url })
  await relay.relay(MINT, { Prefer: 'wait=0' })
  await soon(async () => (await storedRecord(dataDir, digest()))?.transactions.length).toBe(1)
  const left = await asKilledNow(dataDir)
  await relay.stop()
  return left
}

test('an authorization left by an account without a key is relayed by another one, once', async () => {
  const dataDir = await leaveUnsent()
  const before = await storedRecord(dataDir, digest())
  const env = { RELAYER_PRIVATE_KEY: keyOf('dave') }
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
  const relay = await startRelay({ chain: chain(), dataDir, env: { RELAYER_PRIVATE_KEY: keyOf('dave') } })
  const receipt = receiptOf(await relay.relay(MINT))
  expect(receipt).toMatchObject({ status: 'confirmed', digest: digestOf(chain(), MINT) })
  expect(await senderOf(receipt.txHash)).toBe(chain().account('dave'))
})
