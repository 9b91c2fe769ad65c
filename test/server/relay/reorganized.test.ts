import { describe, expect, test } from 'vitest'
import { digestOf, grantedOrder, portfolioUpdate } from '../../support/authorizations.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { MINT, useMintChain } from './mint.js'
import { minedOfRelayer, receiptOf, soon, startRelay, storedRecord } from './relayUnderTest.js'

const { chain, digest } = useMintChain()

describe('a confirmed authorization', () => {
  test('a reorganized authorization is put back, sent again, and confirmed in its new block', async () => {
    const dataDir = await temporaryDirectory()
    const relay = await startRelay({ chain: chain(), dataDir })
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
    expect((await storedRecord(dataDir, digest()))?.transactions).toHaveLength(1)
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
})
