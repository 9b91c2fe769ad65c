import { expect, it } from 'vitest'
import {
  cancelIntentDigest,
  openCancel,
  postCancelSchema,
  sealedCancelDigest,
} from '../../src/protocol/cancelIntent.js'
import { commitOf } from '../../src/protocol/envelope.js'
import { type Hex, hexToBytes } from '../../src/protocol/hex.js'
import { recoverAddress } from '../../src/protocol/signature.js'
import { type ApiAnswer, problem, useApi } from '../support/apiStandIn.js'
import { useChain } from '../support/chain.js'
import { answerAsServer, clearForTrading, clientOf, INTENT_PRIVATE_KEY } from './clientSetting.js'

const chain = useChain(clearForTrading)
const orderId: Hex = `0x${'0a'.repeat(32)}`
const api = await useApi()

/** A client whose server answers cancels in turn, the last one for ever. */
function clientOfServer(...answers: ((body: unknown) => ApiAnswer)[]) {
  let index = 0
  answerAsServer(api, chain(), ({ method, path, body }) =>
    method === 'POST' && path === `/orders/${orderId}/cancel`
      ? answers[Math.min(index++, answers.length - 1)]?.(body)
      : undefined,
  )
  return clientOf(chain(), api, 'alice')
}

const received = { orderId, result: 'received', receivedAt: '2030-01-01T00:00:00.000Z' }
const stored = (body: unknown, change: object = {}): ApiAnswer => ({
  status: 202,
  body: { ...received, commit: commitOf(postCancelSchema.parse(body)), ...change },
})
const posted = () => api.requests.filter(({ method }) => method === 'POST').map(({ body }) => body)

it('cancelling an order seals it, signed by the account inside and outside the seal', async () => {
  const answer = await clientOfServer(stored).cancelOrder(orderId)
  expect(answer).toMatchObject({ orderId, result: 'received' })
  const { sig, ...envelope } = postCancelSchema.parse(posted().at(-1))
  const domain = { chainId: chain().anvil.chainId, escrow: chain().addressOf('escrow') }
  const account = chain().account('alice')
  const order = { orderId, account }
  const inner = await openCancel(envelope, hexToBytes(INTENT_PRIVATE_KEY), order, domain)
  expect(recoverAddress(cancelIntentDigest(order, domain), inner)).toBe(account)
  expect(recoverAddress(sealedCancelDigest(orderId, envelope, domain), sig)).toBe(account)
})

it('cancelling an order posts the same cancel again when the server was away', async () => {
  await clientOfServer(() => problem(503, 'storage-unavailable'), stored).cancelOrder(orderId)
  const [first, second, ...more] = posted()
  expect(first).toBeDefined()
  expect([second, more]).toEqual([first, []])
})

it('cancelling an order does not believe an answer about another order', async () => {
  const client = clientOfServer((body) => stored(body, { orderId: `0x${'0b'.repeat(32)}` }))
  await expect(client.cancelOrder(orderId)).rejects.toMatchObject({ code: 'unexpected-answer' })
})
