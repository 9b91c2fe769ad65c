import { describe, expect, test } from 'vitest'
import { batchMint, digestOf, policyUpdate, portfolioUpdate } from '../../support/authorizations.js'
import { useChain } from '../../support/chain.js'
import { AAPL, ORG, setUpInstitution, shares } from '../../support/institution.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { receiptOf, startRelay } from './relayUnderTest.js'

const chain = useChain(setUpInstitution)

async function start(env: Record<string, string> = {}) {
  return startRelay({ chain: chain(), dataDir: await temporaryDirectory(), env })
}

const relayerNonce = () => chain().provider.getTransactionCount(chain().account('relayer'))

describe('an authorization', () => {
  test('is relayed and answered with its receipt', async () => {
    const relay = await start()
    const authorization = batchMint(AAPL, shares(5))
    const response = await relay.relay(authorization)
    expect(response.status).toBe(200)
    const digest = digestOf(chain(), authorization)
    const receipt = receiptOf(response)
    expect(receipt).toMatchObject({
      digest,
      primaryType: 'BatchMint',
      target: chain().addresses.platformPool,
      status: 'confirmed',
      blockNumber: await chain().provider.getBlockNumber(),
      error: null,
    })
    const mined = await chain().provider.getTransactionReceipt(receipt.txHash ?? '')
    expect(receipt.gasUsed).toBe(mined?.gasUsed)
    expect(await chain().read('pool', 'usedDigest', digest)).toBe(true)
  })

  test('is relayed once, however often it is posted one after another', async () => {
    const relay = await start()
    const before = await relayerNonce()
    const first = await relay.relay(batchMint(AAPL, shares(5)))
    const second = await relay.relay(batchMint(AAPL, shares(5)))
    expect(second.status).toBe(200)
    expect(second.body).toEqual(first.body)
    expect(await relayerNonce()).toBe(before + 1)
  })

  test('is relayed once, however often it is posted at the same time', async () => {
    const relay = await start()
    const before = await relayerNonce()
    const answers = await Promise.all(
      Array.from({ length: 24 }, () => relay.relay(batchMint(AAPL, shares(5)))),
    )
    for (const answer of answers) {
      expect(answer.status).toBe(200)
      expect(answer.body).toEqual(answers[0]?.body)
    }
    expect(await relayerNonce()).toBe(before + 1)
  })

  test('of every account goes out at once with all others', async () => {
    const relay = await start({ RELAY_MAX_IN_FLIGHT: '8' })
    const before = await relayerNonce()
    const answers = await Promise.all(
      chain()
        .anvil.accounts.flatMap(({ address }) => [portfolioUpdate(address)])
        .concat(policyUpdate(ORG, chain().account('admin')))
        .map((authorization) => relay.relay(authorization)),
    )
    expect(answers.map(({ status, body }) => [status, body.status])).toEqual(
      answers.map(() => [200, 'confirmed']),
    )
    expect(await relayerNonce()).toBe(before + answers.length)
  })
})
