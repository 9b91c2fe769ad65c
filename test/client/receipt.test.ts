// Receipts of single orders, compared with a real chain as an auditor does: a node, the escrow's address, and no key. test/e2e/cli.test.ts
// has a node that does not answer.
import { expect, it } from 'vitest'
import type { SealedOrder } from '../../src/client/index.js'
import {
  createReceipt,
  type Receipt,
  type ReceiptFault,
  verifyReceipt,
} from '../../src/client/receipt/index.js'
import { commitOf } from '../../src/protocol/envelope.js'
import type { Hex } from '../../src/protocol/hex.js'
import { type Intent, sealIntentWithKey } from '../../src/protocol/intent.js'
import { settleOrder } from '../support/orderEnds.js'
import { INTENT_PUBLIC_KEY } from './clientSetting.js'
import { usePlacing } from './placing.js'

const { chain, setting } = await usePlacing()
const alice = () => chain().account('alice')
const other = (hex: Hex): Hex => `0x${hex.slice(2, -1)}${hex.endsWith('0') ? '1' : '0'}`

/** Two orders that Alice has placed, and a receipt of the second. */
async function placed() {
  const { client, buy, sale } = await setting()
  const [{ order: bought }, { order }] = [await client.placeOrder(buy), await client.placeOrder(sale)]
  const receipt = createReceipt(order, await client.getPlatform())
  return { bought, order, receipt }
}

const verify = (receipt: unknown, escrow = chain().addressOf('escrow')) => {
  const request = ({ method, params }: { method: string; params: unknown[] }) =>
    chain().provider.send(method, params)
  return verifyReceipt(receipt, { node: { request }, escrow })
}

it('a receipt proves what an account ordered, when, and how it ended, to whoever has a node and the escrow’s address', async () => {
  const { order, receipt } = await placed()
  const { side, symbol, maxSpend: usdc, expiry: deadline } = order.intent
  const ordered = { side, symbol, usdc, limit: null, deadline, account: alice(), escrowed: 0n }
  const proven = { orderId: order.orderId, institution: 'Example Capital', ...ordered }
  const number = expect.any(Number)
  const opened = { txHash: expect.any(String), blockNumber: number, timestamp: number }
  const text = JSON.stringify(receipt)
  expect(await verify(JSON.parse(text))).toEqual({
    ...{ outcome: 'verified', order: { ...proven, state: 'OPEN' }, opened, ended: null },
  })
  const { hash, blockNumber } = await settleOrder(chain(), order.orderId)
  expect(await verify(JSON.parse(text))).toMatchObject({
    ...{ outcome: 'verified', order: { ...proven, state: 'SETTLED' }, opened },
    ended: { txHash: hash, blockNumber },
  })
})

/** A receipt of bytes that the escrow is committed to, whose content is another intent than the one of the transaction. */
async function receiptOfOther(
  order: SealedOrder,
  change: (intent: Intent) => Intent,
  by: 'alice' | 'bob' = 'alice',
): Promise<Receipt> {
  const intent = change(order.intent)
  const { envelope, contentKey } = await sealIntentWithKey(intent, INTENT_PUBLIC_KEY)
  const orderId: Hex = `0x${'77'.repeat(32)}`
  await chain().send(by, 'escrow', 'openRequest', orderId, commitOf(envelope), order.intent.expiry)
  const place = { chainId: chain().anvil.chainId, escrow: chain().addressOf('escrow') }
  return createReceipt({ orderId, envelope, contentKey }, place)
}
const own = (intent: Intent): Intent => ({ ...intent, orderId: `0x${'77'.repeat(32)}` })

type Placed = Awaited<ReturnType<typeof placed>>
const FORGERIES: Record<string, readonly [ReceiptFault, (given: Placed) => Receipt | Promise<Receipt>]> = {
  'of another chain': ['other-chain', ({ receipt }) => ({ ...receipt, chainId: 1 })],
  'of another escrow': ['other-escrow', ({ receipt }) => ({ ...receipt, escrow: alice() })],
  'of an order that nobody opened': [
    'unknown-order',
    ({ receipt }) => ({ ...receipt, orderId: other(receipt.orderId) }),
  ],
  'of another order of the account': [
    'other-commit',
    ({ receipt, bought }) => ({ ...receipt, orderId: bought.orderId }),
  ],
  'with other content': ['other-commit', ({ receipt }) => ({ ...receipt, ct: other(receipt.ct) })],
  'with the key of another order': [
    'does-not-open',
    ({ receipt, bought }) => ({ ...receipt, contentKey: createReceipt(bought, receipt).contentKey }),
  ],
  'whose content is the intent of another order': [
    'other-order',
    ({ order }) => receiptOfOther(order, (same) => same),
  ],
  'of an order that another account opened': [
    'other-order',
    ({ order }) => receiptOfOther(order, own, 'bob'),
  ],
  'whose content has another deadline': [
    'other-order',
    ({ order }) => receiptOfOther(order, (intent) => own({ ...intent, expiry: intent.expiry - 1 })),
  ],
  'whose content the account did not sign': [
    'not-signed',
    ({ order }) => receiptOfOther(order, (intent) => own({ ...intent, symbol: 'MSFT' })),
  ],
}

it.each(Object.entries(FORGERIES))('a receipt %s proves nothing', async (_name, [code, forge]) => {
  expect(await verify(await forge(await placed()))).toEqual({ outcome: 'not-verified', code })
})

it('a receipt with a member too many or too few, or of a later format, is unreadable', async () => {
  const { receipt } = await placed()
  const { tag: _, ...without } = receipt
  for (const wrong of [without, { ...receipt, more: 1 }, { ...receipt, v: 2 }, null, 'text'])
    expect(await verify(wrong)).toEqual({ outcome: 'unreadable' })
})
