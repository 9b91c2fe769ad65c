import { keccak256, Transaction } from 'ethers'
import { describe, expect, test } from 'vitest'
import type { ProxiedCall } from '../../support/faultProxy.js'
import { REPEAT } from '../../support/seed.js'
import { soon } from '../relay/relayUnderTest.js'
import { type Sent, standStill, startTxManager, type TxManagerUnderTest } from './txManagerUnderTest.js'

/** Blocks of a second, on a clock that each of them moves. */
const BLOCK_MS = 1_000
/** More than a block of `BLOCK_GAS` takes. */
const CALLS = 40
/** Nine transfers: in step with a node that loses every tenth, the same one would be lost in each block. */
const BLOCK_GAS = 189_000
/** The most blocks that may leave the count where it is. */
const STILL = 3

const isSend = ({ method }: Pick<ProxiedCall, 'method'>) => method === 'eth_sendRawTransaction'

/** Takes a transaction and forgets it: the answer of a node that holds it. */
function taken({ params: [raw] }: ProxiedCall) {
  return { result: keccak256(String(raw)) }
}

/** How a node loses what it took. Decides on the transactions that it is offered, counted from zero, and hears of each block. */
interface Lossy {
  readonly isLost?: (offer: number) => boolean
  readonly atBlock?: (block: number, under: TxManagerUnderTest) => Promise<unknown>
}

/** Sends the calls, and mines until all of them are mined. @returns the count of each block */
async function countsOf({ isLost, atBlock }: Lossy) {
  const clock = standStill()
  const under = await startTxManager({ anvil: { args: ['--gas-limit', `${BLOCK_GAS}`] } })
  let offers = 0
  under.proxy.answer = (call) => (isSend(call) && isLost?.(offers++) === true ? taken(call) : undefined)
  const sent = Array.from({ length: CALLS }, () => under.send())
  await soon(() => sent.every(({ saved }) => saved.length === 1)).toBe(true)
  const counts = [0]
  while (counts.at(-1) !== CALLS && counts.length <= STILL * CALLS) {
    await atBlock?.(counts.length, under)
    clock.pass(BLOCK_MS)
    // One look may have been under way; the next one offers; the one after it finds that answered.
    await under.asked(4)
    await under.mine()
    counts.push(await under.count())
  }
  return { under, sent, counts }
}

async function expectNoneStands({ sent, counts }: { sent: Sent[]; counts: number[] }) {
  const standing = counts.map((count, at) => counts.slice(at + 1).findIndex((later) => later > count) + 1)
  // No later block moves the last count, which is all of them.
  expect(standing.pop()).toBe(0)
  expect(Math.min(...standing)).toBeGreaterThan(0)
  expect(Math.max(...standing), REPEAT).toBeLessThanOrEqual(STILL)
  expect(counts.at(-1)).toBe(CALLS)
  // Each under one nonce, of one transaction: the bytes that are offered again are the same.
  const nonces = sent.flatMap(({ saved }) => saved.map(({ raw }) => Transaction.from(raw).nonce))
  expect(nonces.toSorted((a, b) => a - b)).toEqual(Array.from({ length: CALLS }, (_, nonce) => nonce))
}

describe('no nonce stands still for more than three blocks, and nothing is sent under two', () => {
  test('where a node takes every tenth transaction and loses it', async () => {
    const outcome = await countsOf({ isLost: (offer) => offer % 10 === 3 })
    await expectNoneStands(outcome)
  })

  test('where a node restarts with an empty pool', async () => {
    const outcome = await countsOf({
      atBlock: async (block, under) => block % 2 === 1 && under.rpc('anvil_dropAllTransactions'),
    })
    await expectNoneStands(outcome)
  })
})

test('no more gas is in flight than a block takes', async () => {
  const { sent, counts } = await countsOf({
    async atBlock(block, under) {
      await soon(() => under.pooled()).toBe(Math.min(9, CALLS - 9 * (block - 1)))
      const sends = under.proxy.requests.flat().filter((method) => isSend({ method }))
      expect(sends).toHaveLength(Math.min(9 * block, CALLS))
    },
  })
  await expectNoneStands({ sent, counts })
  expect(counts).toEqual([0, 9, 18, 27, 36, 40])
})

test('lost transactions are offered again all at once, once a second, for the same fee', async () => {
  const clock = standStill()
  const under = await startTxManager({})
  under.proxy.answer = (call) => (isSend(call) ? taken(call) : undefined)
  const sent = Array.from({ length: 5 }, () => under.send())
  const offers = () => under.proxy.requests.filter((methods) => methods.includes('eth_sendRawTransaction'))
  await soon(() => offers().flat().length).toBe(5)
  const first = offers().length
  for (const second of [1, 2, 3]) {
    clock.pass(999)
    await under.asked(4)
    expect(offers()).toHaveLength(first + second - 1)
    clock.pass(1)
    await soon(() => offers().length).toBe(first + second)
    expect(offers().at(-1)).toEqual(Array.from({ length: 5 }, () => 'eth_sendRawTransaction'))
  }
  // Past the time after which one that a pool holds is raised.
  clock.pass(30_000)
  await soon(() => offers().length).toBe(first + 4)
  expect(sent.every(({ saved }) => saved.length === 1)).toBe(true)
})

test('a transaction that a node already knows gets its fee raised, even where the pending count hides the pool', async () => {
  const clock = standStill()
  const under = await startTxManager({})
  under.proxy.answer = ({ method, params: [, block] }) =>
    method === 'eth_getTransactionCount' && block === 'pending' ? { result: '0x0' } : undefined
  const sent = under.send()
  const asked = () => under.proxy.requests.flat().filter((method) => method === 'eth_getTransactionByHash')
  await soon(() => under.pooled()).toBe(1)
  clock.pass(BLOCK_MS)
  await soon(() => asked().length).toBe(1)
  // A look begins only after the answer to that has come.
  await under.asked(4)
  clock.pass(30_000)
  await soon(() => sent.saved.length).toBe(2)
})
