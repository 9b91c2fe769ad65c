// Histories that the chain makes hard: reorganizations, several writes in one transaction or block, decoys, other keys.
import { describe, expect, it } from 'vitest'
import type { HistoryEntry, HistoryOptions } from '../../../src/client/index.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { portfolioHashAfter } from '../../../src/protocol/ledgerBlob.js'
import type { Portfolio } from '../../../src/protocol/portfolio.js'
import { deployForwarder } from '../../contracts/fixtures/forwarder.js'
import { orderOf, refund, signedCall } from '../../support/authorizations.js'
import { INTERFACES, useChain } from '../../support/chain.js'
import { EMPTY } from '../../support/orderActions.js'
import { clearForTrading } from '../clientSetting.js'
import { historyClient, kindsOf, queriedFrom, readAll } from './historySetting.js'
import {
  authorizationOf,
  buyOf,
  callData,
  emptyOf,
  idOf,
  OTHER_SECRET,
  openBuy,
  openRequest,
  publicKey,
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

/** Ends an order as the enclave does that refuses it: the portfolio, which has no version, stays as it is. */
async function refuse(orderId: Hex): Promise<void> {
  const refusal = refund(await orderOf(chain(), orderId), { ...EMPTY, version: 0n })
  await chain().send('relayer', ...signedCall(chain(), refusal))
}

const mine = (blocks: number) => chain().provider.send('anvil_mine', [`0x${blocks.toString(16)}`])

describe('finality', () => {
  it('marks entries of recent blocks, or withholds them', async () => {
    const first = await buy(1)
    await mine(20)
    await buy(2, first)
    const finals = (await history({ confirmations: 6 })).map(({ isFinal }) => isFinal)
    expect(finals).toEqual([true, true, true, false, false, false])
    expect(kindsOf(await history({ confirmations: 6, finalOnly: true }))).toEqual(BUY)
    expect(await history({ confirmations: 1_000, finalOnly: true })).toEqual([])
  })

  it('counts the block itself as the first confirmation', async () => {
    await buy(1)
    const last = async (confirmations: number) => (await history({ confirmations })).at(-1)?.isFinal
    expect([await last(1), await last(2)]).toEqual([true, false])
    await mine(1)
    expect([await last(2), await last(3)]).toEqual([true, false])
  })
})

describe('a node that has forgotten all states but the latest', () => {
  it('still gives the whole history', async () => {
    const first = await buy(1)
    const before = await history()
    await mine(1_000)
    const [{ blockNumber } = { blockNumber: -1 }] = before.map(({ cursor }) => cursor)
    await expect(chain().provider.getBalance(chain().account('alice'), blockNumber)).rejects.toThrow(
      /BlockOutOfRange/,
    )
    await buy(2, first)
    const all = await history()
    expect(kindsOf(all)).toEqual([...BUY, ...BUY])
    expect(all.slice(0, BUY.length).map(({ cursor }) => cursor)).toEqual(before.map(({ cursor }) => cursor))
  })
})

describe('resuming', () => {
  it('yields the entries behind a cursor, each once, wherever it is', async () => {
    const first = await buy(1)
    await buy(2, first)
    const all = await history()
    expect(kindsOf(all)).toEqual([...BUY, ...BUY])
    for (const [index, { cursor }] of all.entries()) {
      expect(await history({ after: cursor })).toEqual(all.slice(index + 1))
    }
  })

  it('from a block finds the version before it, in short ranges too', async () => {
    const first = await buy(1)
    await mine(30)
    await buy(2, first)
    const all = await history()
    const fromBlock = (all[3]?.cursor.blockNumber ?? 0) + 1
    for (const maxBlocks of [7, 10_000]) expect(await history({ fromBlock, maxBlocks })).toEqual(all.slice(4))
  })

  it('from a block on that begins with a refusal looks no further back when nothing was written', async () => {
    await mine(30)
    const fromBlock = await chain().provider.getBlockNumber()
    const orderId = idOf(1)
    await openRequest(chain(), orderId)
    await refuse(orderId)
    const asked: number[] = []
    for (const maxBlocks of [7, 10_000]) {
      asked.push(
        ...(await queriedFrom(chain(), async () => {
          expect(kindsOf(await history({ fromBlock, maxBlocks }))).toEqual(['opened', 'refunded'])
        })),
      )
    }
    await buy(2)
    asked.push(
      ...(await queriedFrom(chain(), async () => {
        expect(kindsOf(await history({ fromBlock }))).toEqual(['opened', 'refunded', ...BUY])
      })),
    )
    expect(Math.min(...asked)).toBe(fromBlock)
  })

  it('behind a block that was replaced says so', async () => {
    const snapshot = await chain().provider.send('evm_snapshot', [])
    await buy(1)
    const [, , last] = await history()
    await chain().provider.send('evm_revert', [snapshot])
    await mine(1)
    expect(await history()).toEqual([])
    await buy(1)
    if (!last) throw new Error('no entries')
    await expect(history({ after: last.cursor })).rejects.toMatchObject({ code: 'chain-reorganized' })
    expect(kindsOf(await history())).toEqual(BUY)
  })
})

describe('a chain that is reorganized while it is read', () => {
  it('ends the history with an error, and never mixes two versions of it', async () => {
    const snapshot = await chain().provider.send('evm_snapshot', [])
    await buy(1)
    await mine(5)
    const client = await historyClient(chain(), [SECRET])
    const seen: HistoryEntry[] = []
    const read = async () => {
      for await (const entry of client.getHistory({ maxBlocks: 1, confirmations: 1 })) {
        seen.push(entry)
        if (entry.kind !== 'bought') continue
        await chain().provider.send('evm_revert', [snapshot])
        await chain().mineAt((await chain().now()) + 100)
        await mine(30)
      }
    }
    await expect(read()).rejects.toMatchObject({ code: 'chain-reorganized' })
    expect(kindsOf(seen)).toEqual(BUY)
  })
})

describe('writes side by side', () => {
  it('in one block come in their order', async () => {
    const orderId = idOf(1)
    await openBuy(chain(), orderId, 100n * USDC)
    const update = await authorizationOf(chain(), { does: 'update', orderId, portfolio: held(orderId) })
    if (update.primaryType !== 'PortfolioUpdate') throw new Error('no update')
    const after = { version: 2n, previous: portfolioHashAfter(update.message.previous, update.message) }
    const portfolio = { ...emptyOf(), positions: positions(SHARE) }
    const settle = await authorizationOf(chain(), { does: 'settle', orderId, portfolio }, after)
    await chain().provider.send('evm_setAutomine', [false])
    const sent = [update, settle].map((authorization) => {
      const [contract, method, ...args] = signedCall(chain(), authorization)
      const data = INTERFACES[contract].encodeFunctionData(method, args)
      const call = {
        from: chain().account('relayer'),
        to: chain().addressOf(contract),
        data,
        gas: '0x7a1200',
      }
      return chain().provider.send('eth_sendTransaction', [call])
    })
    await Promise.all(sent)
    await chain().provider.send('evm_mine', [])
    await chain().provider.send('evm_setAutomine', [true])
    const [, accepted, bought] = await history()
    expect([accepted?.kind, bought?.kind]).toEqual(['accepted', 'bought'])
    expect(accepted?.cursor.blockNumber).toBe(bought?.cursor.blockNumber)
    expect(bought).toMatchObject({ shares: SHARE, cost: 100n * USDC, price: 100n * USDC })
    if (!accepted) throw new Error('not accepted')
    expect(kindsOf(await history({ after: accepted.cursor }))).toEqual(['bought'])
  })

  it('in one transaction of another contract are found, and decoys beside them are not taken', async () => {
    const [one, two] = [idOf(1), idOf(2)]
    for (const orderId of [one, two]) {
      await openBuy(chain(), orderId, 100n * USDC)
      const both = held(two, held(one))
      const portfolio = orderId === one ? held(one) : both
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
    const decoy = await authorizationOf(
      chain(),
      { does: 'settle', orderId: one, portfolio: rich },
      { version: 3n, previous },
    )
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
    expect(entries[5]).toMatchObject({ orderId: two, returned: 100n * USDC, amount: 100n * USDC })
    expect(entries[6]).toMatchObject({ orderId: two, cash: 100n * USDC, shares: {} })
    await chain().provider.send('evm_revert', [snapshot])
    const [, method, ...args] = signedCall(chain(), first)
    await forward(method, args, callData(chain(), decoy))
    expect((await history()).at(-1)).toMatchObject({ kind: 'bought', shares: SHARE })
  })
})

describe('versions that do not open', () => {
  it('are reported, with the public payouts among them', async () => {
    await openRequest(chain(), idOf(1))
    await chain().send('alice', 'usdc', 'mint', chain().addressOf('pool'), 50n * USDC)
    const payout = { asset: 'USDC', amount: 50n * USDC }
    const sealed = { sealedTo: publicKey(OTHER_SECRET), portfolio: emptyOf(OTHER_SECRET) }
    await write(chain(), { does: 'settle', orderId: idOf(1), ...sealed, payout })
    const entries = await history()
    expect(kindsOf(entries)).toEqual(['opened', 'unreadable', 'cash-withdrawn'])
    expect(entries[1]).toMatchObject({ reason: 'other-key', action: 'settled', orderId: idOf(1) })
    expect(entries[2]).toMatchObject({ amount: 50n * USDC, orderId: idOf(1) })
    const both = await history({}, [OTHER_SECRET])
    expect(kindsOf(both)).toEqual(['opened', 'cash-withdrawn', 'adjusted'])
  })

  it('are reported when they are no portfolio', async () => {
    await openRequest(chain(), idOf(1))
    const portfolio = emptyOf()
    await write(chain(), { does: 'update', orderId: idOf(1), portfolio, plaintext: { cash: 'a lot' } })
    const [, unreadable, ...others] = await history()
    expect(unreadable).toMatchObject({
      kind: 'unreadable',
      reason: 'malformed',
      version: 1n,
      action: 'updated',
    })
    expect(others).toEqual([])
  })

  it('keep what an order was until a version opens again', async () => {
    const first = await buy(1)
    const orderId = idOf(2)
    await openBuy(chain(), orderId, 100n * USDC)
    const sealedTo = publicKey(OTHER_SECRET)
    await write(chain(), { does: 'update', orderId, portfolio: held(orderId, first), sealedTo })
    const portfolio = { ...first, positions: positions(SHARE) }
    await write(chain(), { does: 'settle', orderId, portfolio })
    const entries = await history()
    expect(kindsOf(entries)).toEqual([...BUY, 'opened', 'unreadable', 'unreadable', 'adjusted'])
    expect(entries[5]).toMatchObject({ reason: 'unknown-predecessor', action: 'settled' })
    expect(entries[6]).toMatchObject({ sinceVersion: 2n, cash: 0n, shares: { AAPL: SHARE / 2n } })
  })
})

describe('deposits', () => {
  it('are reported where a settlement only adds', async () => {
    await openBuy(chain(), idOf(1), 100n * USDC)
    const portfolio = { ...emptyOf(), cash: 100n * USDC, positions: positions(SHARE) }
    await write(chain(), { does: 'settle', orderId: idOf(1), portfolio })
    const entries = await history()
    expect(kindsOf(entries)).toEqual(['opened', 'cash-deposited', 'shares-deposited'])
    expect(entries.map(({ cursor }) => cursor.part)).toEqual([0, 0, 1])
    const [, cash] = entries
    if (!cash) throw new Error('no deposit')
    expect(kindsOf(await history({ after: cash.cursor }))).toEqual(['shares-deposited'])
  })
})

describe('a node that leaves out events', () => {
  it('is noticed', async () => {
    await buy(1)
    const { provider } = chain()
    const send = provider.send.bind(provider)
    const client = await historyClient(chain(), [SECRET])
    provider.send = async (method, params) => {
      const answer: unknown = await send(method, params)
      return method === 'eth_getLogs' && Array.isArray(answer) ? answer.slice(0, -1) : answer
    }
    try {
      await expect(readAll(client)).rejects.toMatchObject({ code: 'unexpected-answer' })
    } finally {
      provider.send = send
    }
  })

  it('or refuses long ranges is asked for shorter ones', async () => {
    await buy(1)
    const { provider } = chain()
    const send = provider.send.bind(provider)
    const spans: number[] = []
    const client = await historyClient(chain(), [SECRET])
    const expected = await readAll(client)
    provider.send = async (method, params) => {
      if (method !== 'eth_getLogs') return send(method, params)
      const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }]
      const span = Number(toBlock) - Number(fromBlock) + 1
      spans.push(span)
      if (span <= 4) return send(method, params)
      throw Object.assign(new Error('refused'), { error: { code: -32_005, message: 'too many blocks' } })
    }
    try {
      expect(await readAll(client)).toEqual(expected)
      expect(Math.min(...spans)).toBeLessThanOrEqual(4)
    } finally {
      provider.send = send
    }
  })
})
