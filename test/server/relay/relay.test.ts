import { describe, expect, test } from 'vitest'
import {
  batchMint,
  digestOf,
  grantedOrder,
  policyUpdate,
  portfolioUpdate,
} from '../../support/authorizations.js'
import { useChain } from '../../support/chain.js'
import { AAPL, MSFT, ORG, shares } from '../../support/institution.js'
import { setUpPortfolios } from './mint.js'
import { mine, minedOfRelayer, pooled, receiptOf, soon, startRelay, stopMining } from './relayUnderTest.js'

const chain = useChain(setUpPortfolios)

const start = (env: Record<string, string> = {}) => startRelay({ chain: chain(), env })

const mint = () => batchMint(AAPL, shares(5))

describe('an authorization', () => {
  test('is relayed and answered with its receipt', async () => {
    const relay = await start()
    const response = await relay.relay(mint())
    expect(response.status).toBe(200)
    const digest = digestOf(chain(), mint())
    expect(response.headers.location).toBe(`/relay/${digest}`)
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
    expect((await relay.get(digest)).body).toEqual(response.body)
  })

  test('is relayed once, however often it is posted at the same time', async () => {
    const relay = await start()
    const before = await minedOfRelayer(chain())
    const answers = await Promise.all(Array.from({ length: 24 }, () => relay.relay(mint())))
    for (const answer of answers) {
      expect(answer.status).toBe(200)
      expect(answer.body).toEqual(answers[0]?.body)
    }
    expect(await minedOfRelayer(chain())).toBe(before + 1)
  })

  test('goes out beside others: more than fit under way at once are all mined', async () => {
    const relay = await start({ RELAY_MAX_IN_FLIGHT: '4' })
    const before = await minedOfRelayer(chain())
    const answers = await Promise.all(
      chain()
        .anvil.accounts.map(({ address }) => portfolioUpdate(grantedOrder(address)))
        .concat(policyUpdate(ORG, chain().account('admin')))
        .map((authorization) => relay.relay(authorization)),
    )
    expect(answers.map(({ status, body }) => [status, body.status])).toEqual(
      answers.map(() => [200, 'confirmed']),
    )
    expect(await minedOfRelayer(chain())).toBe(before + answers.length)
  })
})

describe('when there is too much to do', () => {
  test('further authorizations are refused before anything is signed, the same ones still joined', async () => {
    const relay = await start({ RELAY_MAX_IN_FLIGHT: '1', RELAY_MAX_QUEUED: '0' })
    await stopMining(chain())
    await relay.relay(mint(), { Prefer: 'wait=0' })
    const refused = await relay.relay(batchMint(MSFT, shares(1)))
    expect(refused.status).toBe(503)
    expect(refused.body.code).toBe('relay-overloaded')
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    const joined = relay.relay(mint())
    await soon(() => pooled(chain())).toBe(1)
    await mine(chain())
    expect((await joined).body.status).toBe('confirmed')
    await chain().provider.send('evm_setAutomine', [true])
    expect((await relay.relay(batchMint(MSFT, shares(1)))).status).toBe(200)
  })
})

describe('a chain that was reset', () => {
  test('has a confirmed receipt relayed afresh, and until then not shown', async () => {
    const relay = await start()
    const state: unknown = await chain().provider.send('evm_snapshot', [])
    const first = receiptOf(await relay.relay(mint()))
    await chain().provider.send('evm_revert', [state])
    expect((await relay.get(first.digest)).status).toBe(404)
    const before = await minedOfRelayer(chain())
    const second = receiptOf(await relay.relay(mint()))
    expect(second.status).toBe('confirmed')
    expect(await chain().read('pool', 'usedDigest', first.digest)).toBe(true)
    expect(await minedOfRelayer(chain())).toBe(before + 1)
    expect((await relay.get(first.digest)).status).toBe(200)
  })

  test('knows nothing of what has failed there', async () => {
    const relay = await start()
    const state: unknown = await chain().provider.send('evm_snapshot', [])
    await stopMining(chain())
    await relay.relay(mint(), { Prefer: 'wait=0' })
    await soon(() => pooled(chain())).toBe(1)
    const losing = relay.relay(batchMint(AAPL, shares(7)))
    await soon(() => pooled(chain())).toBe(2)
    await mine(chain())
    const { digest, status } = receiptOf(await losing)
    expect(status).toBe('failed')
    expect((await relay.get(digest)).body.status).toBe('failed')
    await chain().provider.send('evm_revert', [state])
    expect((await relay.get(digest)).status).toBe(404)
  })
})
