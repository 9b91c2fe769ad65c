import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { priceLimit } from '../../../src/chain/fees.js'
import { toQuantity } from '../../../src/chain/jsonRpc.js'
import type { SignedTransaction } from '../../../src/server/signer/transaction.js'
import { readTransaction } from '../../../src/server/signer/transaction.js'
import { eventually } from '../../support/eventually.js'
import type { ProxiedCall } from '../../support/faultProxy.js'
import { soon } from '../relay/relayUnderTest.js'
import { type Sent, standStill, startTxManager, type TxManagerUnderTest } from './txManagerUnderTest.js'

const blockSchema = z.looseObject({})
const isSend = ({ method }: ProxiedCall) => method === 'eth_sendRawTransaction'
const newest = ({ saved }: Sent): SignedTransaction => {
  const last = saved.at(-1)
  if (last === undefined) throw new Error('nothing was signed')
  return last
}
const noncesOf = (sent: Sent[]) => sent.map((each) => newest(each).nonce)

/** Mines until the call is mined. */
async function untilMined(under: TxManagerUnderTest, sent: Sent): Promise<void> {
  await eventually('the transaction to be mined', async () => {
    await under.mine()
    return sent.hasEnded
  })
  expect(await sent.outcome).toMatchObject({ kind: 'mined' })
}

/** Sends a call, which the very next block has. */
async function minedNext(under: TxManagerUnderTest): Promise<Sent> {
  const sent = under.send()
  await soon(() => under.pooled()).toBe(1)
  await under.mine()
  expect(await sent.outcome).toMatchObject({ kind: 'mined' })
  return sent
}

async function minedOf(under: TxManagerUnderTest, sent: Sent): Promise<SignedTransaction> {
  await untilMined(under, sent)
  return newest(sent)
}

describe('a nonce', () => {
  test('goes to the next transaction when its own could not be saved', async () => {
    const under = await startTxManager({})
    const disk = Promise.withResolvers<void>()
    const failed = expect(under.send(() => disk.promise).outcome).rejects.toThrow('disk full')
    const second = under.send()
    await soon(() => second.saved.length).toBe(1)
    disk.reject(new Error('disk full'))
    await failed
    const third = under.send()
    await soon(() => third.saved.length).toBe(1)
    expect(noncesOf([third, second])).toEqual([0, 1])
    await soon(() => under.pooled()).toBe(2)
    await under.mine()
    expect(await second.outcome).toMatchObject({ kind: 'mined' })
    expect(await third.outcome).toMatchObject({ kind: 'mined' })
  })

  test('is filled by nothing that was not saved before', async () => {
    const offered: SignedTransaction[] = []
    let isRefused = true
    const under = await startTxManager({
      async saveNoOp(transaction) {
        offered.push(transaction)
        if (isRefused) throw new Error('another server has the account')
      },
    })
    const broadcast = new Set<unknown>()
    under.proxy.answer = (call) => {
      if (isSend(call)) broadcast.add(call.params[0])
      return undefined
    }
    const failing = under.send(() => Promise.reject(new Error('disk full')))
    const second = under.send()
    await expect(failing.outcome).rejects.toThrow('disk full')
    await soon(() => offered.length).toBeGreaterThan(1)
    // The one above the gap alone.
    expect(broadcast.size).toBe(1)
    expect(await under.count()).toBe(0)
    isRefused = false
    await minedOf(under, second)
    expect(await under.count()).toBe(2)
    expect(offered.at(-1)?.nonce).toBe(0)
  })

  test('is filled with the gas that a transfer takes on the chain', async () => {
    const offered: SignedTransaction[] = []
    const under = await startTxManager({ saveNoOp: async (transaction) => void offered.push(transaction) })
    under.proxy.answer = ({ method }) => (method === 'eth_estimateGas' ? { result: '0x186a0' } : undefined)
    const failing = under.send(() => Promise.reject(new Error('disk full')))
    const second = under.send()
    await expect(failing.outcome).rejects.toThrow('disk full')
    await minedOf(under, second)
    expect(offered.map(({ raw }) => readTransaction(raw).gasLimit)).toEqual([125_000n])
  })

  test('is not offered above a refused one', async () => {
    const under = await startTxManager({})
    under.send()
    await soon(() => under.pooled()).toBe(1)
    const offered: unknown[] = []
    under.proxy.answer = (call) =>
      isSend(call) && offered.push(call.params[0]) ? { error: { code: -32_000, message: 'x' } } : undefined
    const refused = under.send()
    await under.asked(7)
    const next = under.send()
    await soon(() => next.saved.length).toBe(1)
    await under.asked(7)
    expect(new Set(offered)).toEqual(new Set([newest(refused).raw]))
  })

  test('is left to the pool that knows of it for as long as a transaction may take', async () => {
    const clock = standStill()
    const under = await startTxManager({ resubmitAfterMs: 30_000 })
    await under.rpc('eth_sendTransaction', { from: under.relayer, to: under.relayer, nonce: '0x0' })
    const sent = under.send()
    await soon(() => sent.saved.length).toBe(1)
    expect(newest(sent).nonce).toBe(1)
    // The clock of the gap begins with the first look that finds it.
    await under.asked(7)
    clock.pass(29_000)
    await under.asked(7)
    expect(under.log.text()).not.toContain('nonce filled')
    clock.pass(2_000)
    await soon(() => under.log.text()).toContain('nonce filled')
  })

  test('far below all that is under way is not reached by filling: they start again there', async () => {
    const under = await startTxManager({ resubmitAfterMs: 200 })
    await under.rpc('anvil_setNonce', under.relayer, '0x64')
    const sent = under.send()
    await soon(() => under.pooled()).toBe(1)
    await under.rpc('anvil_dropAllTransactions')
    await under.rpc('anvil_setNonce', under.relayer, '0x0')
    expect(await sent.outcome).toEqual({ kind: 'displaced' })
    const again = under.send()
    await soon(() => again.saved.length).toBe(1)
    expect(noncesOf([again])).toEqual([0])
  })
})

describe('a nonce that was used elsewhere', () => {
  /** On a clock that stands still: as far as a process gets that dies too soon. */
  async function startHurried() {
    standStill()
    const under = await startTxManager({})
    const sent = under.send()
    await soon(() => under.pooled()).toBe(1)
    return { under, sent, lookAround: () => under.asked(7, 'eth_getTransactionReceipt') }
  }

  async function startOutpaced() {
    const started = await startHurried()
    const { under } = started
    await under.rpc('anvil_dropAllTransactions')
    await under.rpc('eth_sendTransaction', { from: under.relayer, to: under.relayer, nonce: '0x0' })
    await under.mine()
    return started
  }

  test('is known by the blocks on top, without waiting, and no sooner', async () => {
    const { under, sent, lookAround } = await startOutpaced()
    for (let block = 0; block < 4; block++) await under.mine()
    await lookAround()
    expect(sent.hasEnded).toBe(false)
    await under.mine()
    expect(await sent.outcome).toEqual({ kind: 'displaced' })
    expect(sent.saved).toHaveLength(1)
  })

  test('is not lost while the node that says so knows of our receipt', async () => {
    const { under, sent, lookAround } = await startHurried()
    // Asked for by itself it is answered by another node, which trails.
    under.proxy.answer = ({ method, index }) =>
      method === 'eth_getTransactionReceipt' && index === 0 ? { result: null } : undefined
    for (let block = 0; block < 8; block++) await under.mine()
    await lookAround()
    expect(sent.hasEnded).toBe(false)
    under.proxy.answer = () => undefined
    expect(await sent.outcome).toMatchObject({ kind: 'mined' })
  })

  test('is not believed of a node that has not got so far', async () => {
    const { under, sent, lookAround } = await startOutpaced()
    const head = Number(await under.rpc('eth_blockNumber'))
    under.proxy.answer = ({ method, params: [tag] }) =>
      method === 'eth_getBlockByNumber' && Number(tag) > head ? { result: null } : undefined
    for (let block = 0; block < 8; block++) await under.mine()
    await lookAround()
    expect(sent.hasEnded).toBe(false)
  })
})

/** Starts one that has mined calls, and has seen a head above the first block, which an old node still answers with. */
async function startAbove() {
  const under = await startTxManager({})
  // The look that finds a receipt may have asked for the head before that block was made. The second one's looks begin above the first's.
  await minedOf(under, under.send())
  const { nonce } = await minedOf(under, under.send())
  const old: unknown = await under.rpc('eth_getBlockByNumber', '0x0', false)
  const behind = ({ method, params }: ProxiedCall) => {
    if (method === 'eth_getTransactionCount') return { result: '0x0' }
    if (method !== 'eth_getBlockByNumber') return undefined
    return { result: params[0] === 'latest' ? old : null }
  }
  return { under, behind, nonce }
}

test('a node that is behind has no nonce used twice', async () => {
  const { under, behind, nonce } = await startAbove()
  let answers = 0
  under.proxy.answer = (call) => (answers++ > 8 ? undefined : behind(call))
  expect((await minedOf(under, under.send())).nonce).toBe(nonce + 1)
  expect(answers).toBeGreaterThan(4)
})

test('a stop waits for no node that is behind, and signs nothing by what it says', async () => {
  const { under, behind } = await startAbove()
  under.proxy.answer = behind
  standStill()
  const asked = under.proxy.requests.length
  const sent = under.send()
  await soon(() => under.proxy.requests.length).toBeGreaterThan(asked)
  await under.txManager.service.stop()
  expect(await sent.outcome).toEqual({ kind: 'stopped' })
  expect(sent.saved).toEqual([])
})

async function exchangeBlock({ rpc, log }: TxManagerUnderTest): Promise<void> {
  await rpc('anvil_reorg', 1, [])
  await soon(() => log.text()).toContain('"reason":"reorganized"')
}

describe('a node that stays a block behind', () => {
  const LOOK_MS = 12_000

  /** After looks at a chain that makes so many blocks in between, one of them is asked that is a block behind. */
  async function startBehind(
    blocks: number,
    change: (block: object) => object = (block) => block,
    meanwhile: (under: TxManagerUnderTest) => Promise<void> = async () => undefined,
  ) {
    const clock = standStill()
    const under = await startTxManager({ trailingMs: 30_000 })
    const lookAfter = (ms: number, times: number) => {
      clock.pass(ms)
      return under.asked(times)
    }
    await minedNext(under)
    for (let look = 0; look < 4; look++) {
      for (let block = 0; block < blocks; block++) await under.mine()
      await lookAfter(LOOK_MS, 1)
    }
    under.send()
    await soon(() => under.pooled()).toBe(1)
    await meanwhile(under)
    const head = Number(await under.rpc('eth_blockNumber')) - 1
    const known = new Map<unknown, object>()
    for (let number = 0; number <= head; number++) {
      const place = toQuantity(number)
      known.set(place, blockSchema.parse(await under.rpc('eth_getBlockByNumber', place, false)))
    }
    under.proxy.answer = ({ method, params: [place] }) => {
      if (method !== 'eth_getBlockByNumber') return undefined
      const block = known.get(place === 'latest' ? toQuantity(head) : place)
      return { result: block === undefined ? null : change(block) }
    }
    await lookAfter(0, 4)
    return { under, lookAfter }
  }

  test.each([
    ['also where three blocks come between two looks', 3, undefined],
    ['also right after a block was exchanged', 1, exchangeBlock],
  ])('is waited for half a minute, %s', async (_what, blocks, meanwhile) => {
    const { under, lookAfter } = await startBehind(blocks, undefined, meanwhile)
    await lookAfter(29_000, 4)
    expect(under.log.text()).not.toContain('"reason":"reset"')
    await lookAfter(2_000, 4)
    await soon(() => under.log.text()).toContain('"reason":"reset"')
  })

  test('a node that has other blocks below is of a chain that was reset', async () => {
    const { under, lookAfter } = await startBehind(3, (block) => ({ ...block, hash: `0x${'ab'.repeat(32)}` }))
    await lookAfter(2_500, 2)
    await soon(() => under.log.text()).toContain('"reason":"reset"')
  })
})

test('a chain without a base fee gets transactions of type 0, sent again for 12.5 % more', async () => {
  const under = await startTxManager({ anvil: { args: ['--hardfork', 'berlin'] }, resubmitAfterMs: 100 })
  const sent = under.send()
  await soon(() => sent.saved.length).toBeGreaterThan(2)
  const mined = await minedOf(under, sent)
  const offers = sent.saved.map(({ raw }) => readTransaction(raw).fees)
  for (const [index, offer] of offers.entries()) {
    expect(offer.type).toBe(0)
    const before = offers[index - 1]
    if (before) expect(priceLimit(offer) * 1_000n).toBeGreaterThanOrEqual(priceLimit(before) * 1_125n)
  }
  expect(sent.saved.map(({ hash }) => hash)).toContain(mined.hash)
  expect(new Set(sent.saved.map(({ nonce }) => nonce)).size).toBe(1)
})

describe('a reorganization', () => {
  test('has a mined transaction sent again, before it is reported', async () => {
    const under = await startTxManager({ confirmations: 3 })
    const sent = under.send()
    await soon(() => under.pooled()).toBe(1)
    await under.mine()
    await soon(() => under.proxy.requests.flat().includes('eth_getTransactionReceipt')).toBe(true)
    await under.rpc('anvil_reorg', 1, [])
    expect(await under.count()).toBe(0)
    await soon(() => under.pooled()).toBe(1)
    await minedOf(under, sent)
    expect(sent.saved).toHaveLength(1)
    expect(await under.count()).toBe(1)
    expect(sent.dropped).toBe(0)
  })

  test('is noticed by a reported transaction although no look has seen its block as head', async () => {
    const under = await startTxManager({})
    await under.mine()
    const below = await under.rpc('eth_getBlockByNumber', 'latest', false)
    under.proxy.answer = ({ method, params }) =>
      method === 'eth_getBlockByNumber' && params[0] === 'latest' ? { result: below } : undefined
    const sent = await minedNext(under)
    await under.rpc('anvil_reorg', 1, [])
    under.proxy.answer = () => undefined
    await soon(() => sent.dropped).toBe(1)
  })
})
