// The fate of a transaction that a browser's wallet has sent, on a real chain that mines when the test says so.
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { toQuantity } from '../../src/chain/jsonRpc.js'
import { createClient, type Eip1193Provider } from '../../src/client/index.js'
import { bytes32Schema } from '../../src/protocol/hex.js'
import { useApi } from '../support/apiStandIn.js'
import { useChain } from '../support/chain.js'
import { answerAsServer, clearForTrading, FAST, ORG_ID } from './clientSetting.js'

const chain = useChain(clearForTrading)
const api = await useApi()
beforeEach(() => answerAsServer(api, chain()))

const sentSchema = z.looseObject({ to: z.string(), data: z.string() })
type Sent = z.output<typeof sentSchema>

const send = (method: string, ...params: unknown[]): Promise<unknown> => chain().provider.send(method, params)

/**
 * The admin's browser wallet, whose chain mines nothing by itself. `before` is called with each request, `after` once the client has
 * seen the transaction that the wallet has sent.
 */
function adminWallet(
  after: (sent: Sent, hash: string) => unknown,
  before: (method: string) => void,
): Eip1193Provider {
  let last: Sent | undefined
  return {
    async request({ method, params = [] }) {
      if (method === 'eth_requestAccounts') return [chain().account('admin')]
      before(method)
      const given: unknown[] = Array.isArray(params) ? params : []
      const answer = await send(method, ...given)
      if (method === 'eth_sendTransaction') last = sentSchema.parse(given[0])
      if (method === 'eth_getTransactionByHash' && last !== undefined) {
        await after(last, String(given[0]))
        last = undefined
      }
      return answer
    },
  }
}

async function setting(
  after: (sent: Sent, hash: string) => unknown,
  miningTimeoutMs = 60_000,
  before: (method: string) => void = () => undefined,
) {
  await send('evm_setAutomine', false)
  onTestFinished(async () => {
    await send('anvil_mine')
    await send('evm_setAutomine', true)
  })
  const wallet = adminWallet(after, before)
  return createClient({ serverUrl: api.url, wallet, miningTimeoutMs, timing: FAST, allowUnattested: true })
}

/** Sends a transaction of the admin that takes the place of the last one. */
async function replace(transaction: { to: string; data: string }): Promise<string> {
  const from = chain().account('admin')
  const nonce = toQuantity(await chain().provider.getTransactionCount(from))
  const more = { from, nonce, gas: '0x4c4b40', gasPrice: '0x174876e800' }
  return bytes32Schema.parse(await send('eth_sendTransaction', { ...transaction, ...more }))
}

it('a transaction that its person sped up has the hash of the faster one', async () => {
  let faster = ''
  const client = await setting(async ({ to, data }) => {
    faster = await replace({ to, data })
    // The replacement need not be in the newest block.
    await send('anvil_mine', '0x3')
  })
  expect((await client.inviteMember(chain().account('relayer'))).txHash).toBe(faster)
  expect(await chain().read('registry', 'isInvited', ORG_ID, chain().account('relayer'))).toBe(true)
})

it('a transaction that its person cancelled is replaced', async () => {
  const client = await setting(async () => {
    await replace({ to: chain().account('admin'), data: '0x' })
    await send('anvil_mine')
  })
  const replaced = { code: 'transaction-replaced', retryable: false }
  await expect(client.inviteMember(chain().account('broker'))).rejects.toMatchObject(replaced)
})

it('a transaction that no block has in time is pending, and names itself, and its chain to the wallet', async () => {
  let sent = ''
  const client = await setting(({ chainId }, hash) => {
    expect(chainId).toBe(toQuantity(chain().anvil.chainId))
    sent = hash
  }, 100)
  const attempt = client.inviteMember(chain().account('guardian'))
  await expect(attempt).rejects.toMatchObject({ code: 'transaction-pending' })
  await expect(attempt).rejects.toThrow(sent)
})

it.each([
  ['limits requests', { code: 429 }],
  ['is disconnected', { code: 4900 }],
  ['is not reached', new TypeError('Failed to fetch')],
])('a transaction that was sent is looked for again where the node %s', async (_how, failure) => {
  let looks = 0
  const fail = (method: string) => {
    if (method === 'eth_getTransactionReceipt' && looks++ === 0) throw failure
  }
  const client = await setting(() => send('anvil_mine'), 60_000, fail)
  const { blockNumber } = await client.inviteMember(chain().account('dave'))
  expect(blockNumber).toBe(await chain().provider.getBlockNumber())
})

it.each(['eth_sendTransaction', 'eth_getTransactionReceipt'])(
  'a transaction may be pending where the node fails for good from %s on, so that no call repeats it',
  async (failing) => {
    const fail = (method: string) => {
      if (method === failing) throw Object.assign(new Error('disconnected'), { code: 4900 })
    }
    const client = await setting(() => undefined, 100, fail)
    await expect(client.inviteMember(chain().account('dave'))).rejects.toMatchObject({
      ...{ code: 'transaction-pending', retryable: false },
      cause: { code: 'node-unavailable' },
    })
  },
)
