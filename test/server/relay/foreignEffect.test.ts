import { getBytes, id } from 'ethers'
import { expect, test } from 'vitest'
import { bytesToHex } from '../../../src/protocol/hex.js'
import { failed, pendingRecord } from '../../../src/server/relay/record.js'
import { createReceiptStore, type RelayRecord } from '../../../src/server/store/receipts.js'
import { signedCall } from '../../support/authorizations.js'
import { INTERFACES } from '../../support/chain.js'
import { startFaultProxy } from '../../support/faultProxy.js'
import { createLogLines } from '../../support/logLines.js'
import { openStores } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { MINT, mine, minedOfRelayer, receiptOf, soon, startRelay, useMintChain } from './relayUnderTest.js'

const { chain, digest } = useMintChain()

/** The relay reads the chain's signer ahead of it. */
const ofSigner = new RegExp(
  `"(?:${['authority()', 'enclaveSigner()', 'pendingRotation(uint8)'].map((name) => id(name).slice(0, 10)).join('|')})`,
)
/** The answer of `usedDigest` where the effect has not arrived. */
const UNUSED = `0x${'00'.repeat(32)}`

async function takeToChain(): Promise<void> {
  const [contract, method, struct, signature] = signedCall(chain(), MINT)
  await chain().send('dave', contract, method, struct, signature)
}

/** The record of a server that was killed before it signed. */
function untouched(): RelayRecord {
  const [contract, method, struct, signature] = signedCall(chain(), MINT)
  const data = bytesToHex(getBytes(INTERFACES[contract].encodeFunctionData(method, [struct, signature])))
  const target = chain().addressOf(contract)
  const purpose = { kind: 'platform' } as const
  return pendingRecord({ digest: digest(), primaryType: 'BatchMint', target, data, purpose })
}

/** A data directory with the record. */
async function stored(record: RelayRecord): Promise<string> {
  const dataDir = await temporaryDirectory()
  const { engine } = await openStores(dataDir)
  const receipts = createReceiptStore({ engine, logger: createLogLines().logger })
  await engine.transact([receipts.toChange(record, 0)])
  return dataDir
}

async function start(confirmations: number, dataDir = '', behind = 0) {
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  let left = behind
  proxy.answer = ({ method, params }) => {
    const isAsked = method === 'eth_call' && !ofSigner.test(JSON.stringify(params))
    return isAsked && left-- > 0 ? { result: UNUSED } : undefined
  }
  const env = { CONFIRMATIONS: `${confirmations}` }
  const relay = await startRelay({ chain: chain(), ...(dataDir && { dataDir }), env, rpcUrl: proxy.url })
  const status = async () => receiptOf(await relay.get(digest())).status
  /** How often it was looked whether the effect is deep. */
  const looks = () => proxy.requests.flat().filter((method) => method === 'eth_blockNumber').length
  const lookAround = async () => {
    const before = looks()
    await soon(looks).toBeGreaterThan(before + 1)
  }
  return { proxy, relay, status, lookAround }
}

test('an effect that somebody else brought about counts once it is as deep as our own has to be', async () => {
  const { proxy, relay, status, lookAround } = await start(3)
  await takeToChain()
  const posted = await relay.relay(MINT, { Prefer: 'wait=0' })
  expect([posted.status, receiptOf(posted).status]).toEqual([202, 'pending'])
  await mine(chain())
  await lookAround()
  expect(await status()).toBe('pending')
  await mine(chain())
  await soon(status).toBe('confirmed')
  expect(receiptOf(await relay.get(digest()))).toMatchObject({ txHash: null, error: null })
  expect(proxy.requests.flat()).not.toContain('eth_sendRawTransaction')
})

test('an effect that is taken back before it counts is brought about by the relay', async () => {
  const { relay, status } = await start(3)
  await takeToChain()
  await relay.relay(MINT, { Prefer: 'wait=0' })
  const before = await minedOfRelayer(chain())
  await chain().provider.send('anvil_reorg', [1, []])
  await soon(() => minedOfRelayer(chain())).toBe(before + 1)
  await mine(chain())
  await mine(chain())
  await soon(status).toBe('confirmed')
  const { txHash } = receiptOf(await relay.get(digest()))
  expect((await chain().provider.getTransactionReceipt(txHash ?? ''))?.status).toBe(1)
})

test('a receipt that failed is open again when its effect appears, until that counts', async () => {
  const dataDir = await stored(failed(untouched(), null, { name: 'BatchConflict', args: {} }))
  const { relay, status } = await start(3, dataDir)
  expect(await status()).toBe('failed')
  await takeToChain()
  expect(await status()).toBe('pending')
  expect(receiptOf(await relay.get(digest())).error).toBeNull()
  await mine(chain())
  await mine(chain())
  await soon(status).toBe('confirmed')
})

test('no caller hears that it would revert because a node does not know of its effect yet', async () => {
  const { relay } = await start(1, '', 2)
  await takeToChain()
  expect(receiptOf(await relay.relay(MINT)).status).toBe('confirmed')
})

test('an authorization does not fail when it is taken up again and a node does not know of its effect yet', async () => {
  const dataDir = await stored(untouched())
  await takeToChain()
  const { proxy, relay } = await start(1, dataDir, 1)
  await soon(() => /"outcome":"(\w+)"/.exec(relay.log.text())?.[1]).toBe('confirmed')
  expect(proxy.requests.flat()).not.toContain('eth_sendRawTransaction')
})
