import { describe, expect, test } from 'vitest'
import type { Authorization } from '../../../src/protocol/authorization.js'
import { grantedOrder, portfolioUpdate, signedCall } from '../../support/authorizations.js'
import { type FaultProxy, type ProxiedCall, REFUSAL, startFaultProxy } from '../../support/faultProxy.js'
import { AAPL, shares } from '../../support/institution.js'
import { storedRows } from '../../support/storedRows.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { MINT, useMintChain } from './mint.js'
import {
  asKilledNow,
  mine,
  minedOfRelayer,
  pooled,
  receiptOf,
  soon,
  startRelay,
  stopMining,
  storedRecord,
} from './relayUnderTest.js'

const { chain, digest } = useMintChain()

const isSend = ({ method }: ProxiedCall) => method === 'eth_sendRawTransaction'

async function startBehindProxy() {
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  const dataDir = await temporaryDirectory()
  return { proxy, dataDir, relay: await startRelay({ chain: chain(), dataDir, rpcUrl: proxy.url }) }
}

const statusOnDisk = async (dataDir: string) => (await storedRecord(dataDir, digest()))?.receipt.status

describe('a server that is killed', () => {
  interface Moment {
    readonly reach: (proxy: FaultProxy) => void
    /** The stored status at that moment. */
    readonly status: 'pending' | 'submitted'
    /** Transactions that the node then has. */
    readonly pooled: number
  }
  const moments: Record<string, Moment> = {
    'before it signed': {
      reach: (proxy) => {
        proxy.answer = ({ method }) => (method === 'eth_getTransactionCount' ? REFUSAL : undefined)
      },
      status: 'pending',
      pooled: 0,
    },
    'between signing and sending': {
      reach: (proxy) => {
        proxy.fault = (calls) => (calls.some(isSend) ? 'drop' : 'none')
      },
      status: 'submitted',
      pooled: 0,
    },
    'before it heard that a node took it': {
      reach: (proxy) => {
        proxy.fault = (calls) => (calls.some(isSend) ? 'lose' : 'none')
      },
      status: 'submitted',
      pooled: 1,
    },
    'while nothing was mined': { reach: () => undefined, status: 'submitted', pooled: 1 },
  }

  test.each(Object.keys(moments))('%s goes on after its start, to one effect', async (name) => {
    const moment = moments[name]
    const { proxy, dataDir, relay } = await startBehindProxy()
    await stopMining(chain())
    const before = await minedOfRelayer(chain())
    moment?.reach(proxy)
    await relay.relay(MINT, { Prefer: 'wait=0' })
    await soon(() => statusOnDisk(dataDir)).toBe(moment?.status)
    await soon(() => pooled(chain())).toBe(moment?.pooled)
    const left = await asKilledNow(dataDir)
    await relay.stop()

    const saved = await storedRecord(left, digest())
    const again = await startRelay({ chain: chain(), dataDir: left })
    const joined = again.relay(MINT)
    await soon(() => pooled(chain())).toBe(1)
    await mine(chain())
    const receipt = receiptOf(await joined)
    expect(receipt.status).toBe('confirmed')
    const mined = await chain().provider.getTransactionReceipt(receipt.txHash ?? '')
    expect(mined?.status).toBe(1)
    // The signed transaction itself is sent; none is signed a second time.
    if (saved?.receipt.txHash) expect(receipt.txHash).toBe(saved.receipt.txHash)
    expect(await minedOfRelayer(chain())).toBe(before + 1)
  })

  test('after it was mined finds it', async () => {
    const { dataDir, relay } = await startBehindProxy()
    await stopMining(chain())
    const before = await minedOfRelayer(chain())
    await relay.relay(MINT, { Prefer: 'wait=0' })
    await soon(() => pooled(chain())).toBe(1)
    const left = await asKilledNow(dataDir)
    await relay.stop()
    await mine(chain())
    const seen = await startFaultProxy(chain().anvil.rpcUrl)
    const again = await startRelay({ chain: chain(), dataDir: left, rpcUrl: seen.url })
    await soon(async () => (await again.get(digest())).body.status).toBe('confirmed')
    expect((await again.get(digest())).body.txHash).not.toBeNull()
    expect(seen.requests.flat()).not.toContain('eth_sendRawTransaction')
    expect(await minedOfRelayer(chain())).toBe(before + 1)
  })

  test('and whose authorization somebody else took to the chain sends nothing any more', async () => {
    const { proxy, dataDir, relay } = await startBehindProxy()
    proxy.fault = (calls) => (calls.some(isSend) ? 'drop' : 'none')
    await relay.relay(MINT, { Prefer: 'wait=0' })
    await soon(() => statusOnDisk(dataDir)).toBe('submitted')
    const left = await asKilledNow(dataDir)
    await relay.stop()
    const [contract, method, struct, signature] = signedCall(chain(), MINT)
    await chain().send('dave', contract, method, struct, signature)
    const before = await minedOfRelayer(chain())
    const seen = await startFaultProxy(chain().anvil.rpcUrl)
    const again = await startRelay({ chain: chain(), dataDir: left, rpcUrl: seen.url })
    await soon(async () => (await again.get(digest())).body.status).toBe('confirmed')
    expect((await again.relay(MINT)).body).toMatchObject({ txHash: null, error: null })
    expect(seen.requests.flat()).not.toContain('eth_sendRawTransaction')
    expect(await minedOfRelayer(chain())).toBe(before)
  })

  test('and loses its directory has no second effect when it is asked again', async () => {
    const { relay } = await startBehindProxy()
    await stopMining(chain())
    await relay.relay(MINT, { Prefer: 'wait=0' })
    await soon(() => pooled(chain())).toBe(1)
    await relay.stop()
    const again = await startRelay({ chain: chain() })
    const response = again.relay(MINT)
    await soon(() => pooled(chain())).toBe(2)
    await mine(chain())
    // Its own transaction reverted, as the forgotten one was first.
    expect(receiptOf(await response)).toMatchObject({ status: 'confirmed', txHash: null, error: null })
    expect(await chain().read('token', 'totalSupply', AAPL)).toBe(shares(5))
  })
})

test('the signed transaction is stored before a node sees it', async () => {
  const { proxy, dataDir, relay } = await startBehindProxy()
  const seen: boolean[] = []
  proxy.fault = (calls) => {
    for (const call of calls.filter(isSend)) seen.push(stored(dataDir).includes(String(call.params[0])))
    return 'none'
  }
  const authorizations: Authorization[] = [
    MINT,
    ...chain().anvil.accounts.map(({ address }) => portfolioUpdate(grantedOrder(address))),
  ]
  await Promise.all(authorizations.map((each) => relay.relay(each)))
  expect(seen).toEqual(authorizations.map(() => true))
})

function stored(dataDir: string): string {
  return storedRows(dataDir, 'relays')
    .map(({ doc }) => doc)
    .join('\n')
}
