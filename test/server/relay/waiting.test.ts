import { describe, expect, onTestFinished, test } from 'vitest'
import { batchMint, digestOf } from '../../support/authorizations.js'
import { useChain } from '../../support/chain.js'
import { startFaultProxy } from '../../support/faultProxy.js'
import { AAPL, setUpInstitution, shares } from '../../support/institution.js'
import { mine, pooled, receiptOf, soon, startRelay, stopMining } from './relayUnderTest.js'

const chain = useChain(setUpInstitution)

const start = (env: Record<string, string> = {}) => startRelay({ chain: chain(), env })

const mint = () => batchMint(AAPL, shares(5))

describe('a caller', () => {
  test('is answered 202 with the receipt so far when its time is up, and finds the end later', async () => {
    const relay = await start()
    await stopMining(chain())
    const warnings: Error[] = []
    const onWarning = (warning: Error) => warnings.push(warning)
    process.on('warning', onWarning)
    onTestFinished(() => void process.off('warning', onWarning))
    const response = await relay.relay(mint(), { Prefer: 'wait=0' })
    expect(response.status).toBe(202)
    // The steps before took longer than that, and no timer may get a negative time.
    expect(warnings).toEqual([])
    expect(['pending', 'submitted']).toContain(receiptOf(response).status)
    const digest = digestOf(chain(), mint())
    await soon(async () => (await relay.get(digest)).body.status).toBe('submitted')
    const joined = relay.relay(mint())
    await mine(chain())
    expect((await joined).status).toBe(200)
    expect((await relay.get(digest)).body).toEqual((await joined).body)
    expect((await joined).body).toMatchObject({ status: 'confirmed' })
  })

  test('is let go when the server stops', async () => {
    const relay = await start()
    await stopMining(chain())
    const waiting = relay.relay(mint())
    const digest = digestOf(chain(), mint())
    await soon(async () => (await relay.get(digest)).body.status).toBe('submitted')
    relay.beginToStop()
    expect((await waiting).status).toBe(202)
  })
})

describe('the depth that an authorization waits for', () => {
  test('is as many blocks as configured', async () => {
    const relay = await start({ CONFIRMATIONS: '3' })
    await stopMining(chain())
    await relay.relay(mint(), { Prefer: 'wait=0' })
    const digest = digestOf(chain(), mint())
    const status = async () => (await relay.get(digest)).body.status
    await soon(status).toBe('submitted')
    await soon(() => pooled(chain())).toBe(1)
    await mine(chain())
    await mine(chain())
    expect((await relay.relay(mint(), { Prefer: 'wait=1' })).body.status).toBe('submitted')
    await mine(chain())
    await soon(status).toBe('confirmed')
  })

  test('may revert: the answer has the reason, and it may be posted again', async () => {
    const relay = await start()
    await stopMining(chain())
    const loser = batchMint(AAPL, shares(7))
    await relay.relay(mint(), { Prefer: 'wait=0' })
    const digest = digestOf(chain(), mint())
    await soon(async () => (await relay.get(digest)).body.status).toBe('submitted')
    const losing = relay.relay(loser)
    await soon(() => pooled(chain())).toBe(2)
    await mine(chain())
    const response = await losing
    expect(response.status).toBe(200)
    expect(receiptOf(response)).toMatchObject({
      status: 'failed',
      error: { name: 'BatchConflict', args: { expected: '2', got: '1' } },
      blockNumber: await chain().provider.getBlockNumber(),
    })
    expect(receiptOf(response).gasUsed).toBeGreaterThan(0n)
    const again = await relay.relay(loser)
    expect(again.status).toBe(422)
    expect(again.body).toMatchObject({ code: 'would-revert', revert: { name: 'BatchConflict' } })
  })

  test('may revert where no node can tell why any more', async () => {
    const proxy = await startFaultProxy(chain().anvil.rpcUrl)
    const relay = await startRelay({ chain: chain(), rpcUrl: proxy.url })
    await stopMining(chain())
    await relay.relay(mint(), { Prefer: 'wait=0' })
    await soon(() => pooled(chain())).toBe(1)
    const losing = relay.relay(batchMint(AAPL, shares(7)))
    await soon(() => pooled(chain())).toBe(2)
    proxy.answer = ({ method, params }) =>
      method === 'eth_call' && params[1] !== 'latest'
        ? { error: { code: -32_000, message: 'missing trie node' } }
        : undefined
    await mine(chain())
    expect(receiptOf(await losing)).toMatchObject({ status: 'failed', error: { name: 'unknown' } })
  })
})
