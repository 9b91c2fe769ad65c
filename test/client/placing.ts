// What the tests of placed orders have in common: Alice's requests, and what became of them.
import type { ClientOptions, SealedOrder } from '../../src/client/index.js'
import { commitOf } from '../../src/protocol/envelope.js'
import { postOrderSchema } from '../../src/protocol/postedOrder.js'
import { useApi } from '../support/apiStandIn.js'
import { useChain } from '../support/chain.js'
import { openingCall } from '../support/openings.js'
import { answerAsServer, clearForTrading, clientOf } from './clientSetting.js'

export const ONE = 1_000_000n

export async function usePlacing() {
  const chain = useChain(clearForTrading)
  const api = await useApi()
  const alice = () => chain().account('alice')
  return {
    ...{ chain, api },
    posted: () => api.requests.filter(({ method }) => method === 'POST'),
    balance: () => chain().read('usdc', 'balanceOf', alice()),
    /** How many transactions her wallet has sent. */
    sent: () => chain().provider.getTransactionCount(alice()),
    /** Opens what the body's signature opens, as the platform's relayer or anyone else may. */
    async openAsSigned(body: unknown): Promise<void> {
      const { orderId, opening, ...envelope } = postOrderSchema.parse(body)
      if (opening === undefined) throw new Error('no opening was posted')
      const { sig, ...signed } = opening
      await chain().send('relayer', ...openingCall({ ...signed, orderId, commit: commitOf(envelope) }, sig))
    },
    /** Bob opens an order whose id has the same first 16 bytes. */
    async takeId({ orderId, commit, intent }: SealedOrder): Promise<void> {
      const other = `${orderId.slice(0, 34)}${'00'.repeat(16)}`
      await chain().send('bob', 'escrow', 'openRequest', other, commit, intent.expiry)
    },
    /** Alice's client of a server that takes orders, and two orders that last an hour. */
    async setting(options: Partial<ClientOptions> = {}) {
      answerAsServer(api, chain())
      const order = { symbol: 'AAPL', usdc: 25n * ONE, deadline: (await chain().now()) + 3_600 }
      const buy = { ...order, side: 'BUY' } as const
      const sale = { ...order, side: 'SELL' } as const
      return { client: clientOf(chain(), api, 'alice', options), buy, sale }
    },
  }
}
