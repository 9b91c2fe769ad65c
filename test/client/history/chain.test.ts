// Histories that the chain makes hard: reorganizations, several writes in one transaction or block, decoys, other keys.
import { expect, it } from 'vitest'
import type { HistoryOptions } from '../../../src/client/history.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { portfolioHashAfter } from '../../../src/protocol/ledgerBlob.js'
import type { Portfolio } from '../../../src/protocol/portfolio.js'
import { deployForwarder } from '../../contracts/fixtures/forwarder.js'
import { signedCall } from '../../support/authorizations.js'
import { useChain } from '../../support/chain.js'
import { clearForTrading } from '../clientSetting.js'
import { changeAnswers, historyClient, kindsOf, readAll } from './historySetting.js'
import {
  authorizationOf,
  buyOf,
  callData,
  emptyOf,
  idOf,
  openBuy,
  SECRET,
  SHARE,
  USDC,
  write,
} from './written.js'

const chain = useChain(async (started) => {
  await clearForTrading(started)
  await started.send('alice', 'usdc', 'approve', started.addressOf('escrow'), 1_000n * USDC)
})

const history = async (options?: HistoryOptions, keys: readonly Hex[] = [SECRET]) =>
  readAll(await historyClient(chain(), keys), options)

const positions = (shares: bigint) => ({ AAPL: { qty: shares, locked: 0n } })
const held = (orderId: Hex, before: Portfolio = emptyOf()): Portfolio => ({
  ...before,
  openOrders: { ...before.openOrders, [orderId]: buyOf(100n * USDC) },
})

/** A buy of 100 USDC that got half a share at 199: 0.5 USDC is left. */
async function buy(number: number, before: Portfolio = emptyOf()): Promise<Portfolio> {
  const orderId = idOf(number)
  await openBuy(chain(), orderId, 100n * USDC)
  await write(chain(), { does: 'update', orderId, portfolio: held(orderId, before) })
  const shares = (before.positions.AAPL?.qty ?? 0n) + SHARE / 2n
  const portfolio = { ...before, cash: before.cash + USDC / 2n, positions: positions(shares) }
  await write(chain(), { does: 'settle', orderId, portfolio })
  return portfolio
}
const BUY = ['opened', 'accepted', 'bought']

const mine = (blocks: number) => chain().provider.send('anvil_mine', [`0x${blocks.toString(16)}`])

it('finality marks entries of recent blocks, or withholds them', async () => {
  const first = await buy(1)
  await mine(20)
  await buy(2, first)
  const finals = (await history({ confirmations: 6 })).map(({ isFinal }) => isFinal)
  expect(finals).toEqual([true, true, true, false, false, false])
  expect(kindsOf(await history({ confirmations: 6, finalOnly: true }))).toEqual(BUY)
  expect(await history({ confirmations: 1_000, finalOnly: true })).toEqual([])
})

it('resuming yields the entries behind a cursor or from a block on, each once, in short ranges too', async () => {
  const first = await buy(1)
  await mine(30)
  await buy(2, first)
  const all = await history()
  expect(kindsOf(all)).toEqual([...BUY, ...BUY])
  for (const [index, { cursor }] of all.entries()) {
    expect(await history({ after: cursor })).toEqual(all.slice(index + 1))
  }
  const fromBlock = (all[3]?.cursor.blockNumber ?? 0) + 1
  for (const maxBlocks of [7, 10_000]) expect(await history({ fromBlock, maxBlocks })).toEqual(all.slice(4))
})

it('a history whose chain is reorganized while it is read is read anew, and never mixes two versions of it', async () => {
  const snapshot = await chain().provider.send('evm_snapshot', [])
  await buy(1)
  await mine(5)
  const client = await historyClient(chain(), [SECRET])
  let isReplaced = false
  changeAnswers(chain(), async (answer, method) => {
    if (isReplaced || method !== 'eth_getTransactionByHash') return answer
    isReplaced = true
    await chain().provider.send('evm_revert', [snapshot])
    await chain().mineAt((await chain().now()) + 100)
    await mine(30)
    return answer
  })
  expect(await readAll(client, { maxBlocks: 1 })).toEqual([])
  expect(isReplaced).toBe(true)
})

it('a cursor whose block was replaced is refused', async () => {
  await buy(1)
  const [entry] = await history()
  if (entry === undefined) throw new Error('nothing was read')
  const after = { ...entry.cursor, blockHash: idOf(9) }
  await expect(history({ after })).rejects.toMatchObject({ code: 'chain-reorganized' })
})

it('writes side by side in one transaction of another contract are found, and decoys beside them are not taken', async () => {
  const [one, two] = [idOf(1), idOf(2)]
  for (const orderId of [one, two]) {
    await openBuy(chain(), orderId, 100n * USDC)
    const portfolio = orderId === one ? held(one) : held(two, held(one))
    await write(chain(), { does: 'update', orderId, portfolio })
  }
  const filled = { ...held(two), positions: positions(SHARE) }
  const first = await authorizationOf(chain(), { does: 'settle', orderId: one, portfolio: filled })
  if (first.primaryType !== 'OrderSettlement') throw new Error('no settlement')
  const { previous } = first.message
  const after = { version: 4n, previous: portfolioHashAfter(previous, first.message) }
  const last = { ...emptyOf(), cash: 100n * USDC, positions: positions(SHARE) }
  const second = await authorizationOf(chain(), { does: 'refund', orderId: two, portfolio: last }, after)
  const rich = { ...emptyOf(), cash: 1_000_000n * USDC }
  const untrue = { does: 'settle', orderId: one, portfolio: rich } as const
  const decoy = await authorizationOf(chain(), untrue, { version: 3n, previous })
  const { forward, forwardAll } = await deployForwarder(chain())
  const snapshot = await chain().provider.send('evm_snapshot', [])
  await forwardAll([first, second].map((authorization) => callData(chain(), authorization)))
  const entries = await history()
  expect(kindsOf(entries)).toEqual([
    ...['opened', 'accepted', 'opened', 'accepted'],
    ...['bought', 'refunded', 'adjusted'],
  ])
  expect(new Set(entries.slice(4).map(({ txHash }) => txHash)).size).toBe(1)
  expect(entries[4]).toMatchObject({ orderId: one, shares: SHARE, cost: 100n * USDC })
  expect(entries[5]).toMatchObject({ orderId: two, returned: 100n * USDC, usdc: 100n * USDC })
  expect(entries[6]).toMatchObject({ orderId: two, cash: 100n * USDC, shares: {} })
  await chain().provider.send('evm_revert', [snapshot])
  const [, method, ...args] = signedCall(chain(), first)
  await forward(method, args, callData(chain(), decoy))
  expect((await history()).at(-1)).toMatchObject({ kind: 'bought', shares: SHARE })
})

it('a node that leaves out events is noticed', async () => {
  await buy(1)
  changeAnswers(chain(), (answer, method) =>
    method === 'eth_getLogs' && Array.isArray(answer) ? answer.slice(0, -1) : answer,
  )
  await expect(history()).rejects.toMatchObject({ code: 'unexpected-answer' })
})
