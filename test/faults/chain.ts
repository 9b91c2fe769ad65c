// The chain mines by the storm's clock, and its faults strike between two blocks.
import { setTimeout as sleep } from 'node:timers/promises'
import { type JsonRpcProvider, Transaction, Wallet } from 'ethers'
import * as z from 'zod'
import { toQuantity } from '../../src/chain/jsonRpc.js'
import { openedByCall } from '../../src/chain/openingCall.js'
import { sameAddress } from '../../src/protocol/address.js'
import { bytes32Schema, type Hex, hexBetween } from '../../src/protocol/hex.js'
import { BLOCK_TIME } from '../../src/sandbox/settings.js'
import { MAX_TRANSACTION_BYTES } from '../../src/server/signer/transaction.js'
import type { Fault, KindOf } from './plan.js'
import { createRandom, type Random } from './random.js'

const CHECK_MS = 20
const BLOCK_MS = 200
/** How long a fault waits for its occasion. */
const LIMIT_MS = 15_000
const GWEI = 1_000_000_000n
/** Above everything that the relay offers, so that it takes the nonce. */
const OUTSIDE_PRICE = 1_000n * GWEI
const ELSEWHERE = '0x000000000000000000000000000000000000dEaD'
/** How often a transaction waits in the pool again after a reorganization. */
const DELAYED = 0.3

const pooledSchema = z.looseObject({
  hash: bytes32Schema,
  input: hexBetween(0, MAX_TRANSACTION_BYTES),
})
const poolSchema = z.object({ pending: z.record(z.string(), z.record(z.string(), pooledSchema)) })
const blockSchema = z.object({ transactions: z.array(bytes32Schema) })
const rawSchema = z.string().regex(/^0x[0-9a-f]+$/)

export type Chain = Awaited<ReturnType<typeof startChain>>

/**
 * Takes over from the node, which loses blocks when it mines by itself during a reorganization.
 * @param keys of the relayers
 * @param isShipped has blocks as the sandbox has them, and a base fee that stays: a firm's chain has more room than they have
 */
export async function startChain(
  provider: JsonRpcProvider,
  chainId: number,
  keys: readonly string[],
  isShipped: boolean,
) {
  await provider.send('evm_setAutomine', [false])
  await provider.send('evm_setIntervalMining', [0])
  const wallets = keys.map((key) => new Wallet(key))
  const stopping = new AbortController()
  let last: Promise<unknown> = Promise.resolve()

  /** Runs an action between two blocks. */
  function between<T>(action: () => Promise<T>): Promise<T> {
    const done = last.then(action)
    last = done.catch(() => undefined)
    return done
  }

  async function mine(): Promise<void> {
    while (!stopping.signal.aborted) {
      if (isShipped) await provider.send('anvil_setNextBlockBaseFeePerGas', [toQuantity(GWEI)])
      const due = sleep(isShipped ? BLOCK_TIME * 1_000 : BLOCK_MS)
      await between(() => provider.send('evm_mine', []))
      await due
    }
  }
  const mining = mine()

  const accepts = (method: string, params: unknown[]) =>
    provider.send(method, params).then(
      () => true,
      () => false,
    )

  /** The relayers' transactions that wait in the pool. */
  async function pooled(): Promise<z.output<typeof pooledSchema>[]> {
    const { pending } = poolSchema.parse(await provider.send('txpool_content', []))
    return Object.entries(pending).flatMap(([from, transactions]) =>
      wallets.some(({ address }) => sameAddress(address, from)) ? Object.values(transactions) : [],
    )
  }

  /** Uses a relayer's key elsewhere: under the next nonce of the pool, or in the place of a transaction that waits. */
  async function useElsewhere(tag: 'latest' | 'pending'): Promise<boolean> {
    for (const wallet of wallets) {
      const count = (block: string) => provider.getTransactionCount(wallet.address, block)
      const [nonce, ahead] = await Promise.all([count(tag), count('pending')])
      if (tag === 'latest' && nonce === ahead) continue
      const call = { to: ELSEWHERE, value: 1n, gasLimit: 21_000n, gasPrice: OUTSIDE_PRICE }
      const raw = await wallet.signTransaction({ ...call, type: 0, chainId, nonce })
      if (await accepts('eth_sendRawTransaction', [raw])) return true
    }
    return false
  }

  async function transactionsOf(block: number): Promise<Transaction[]> {
    const answer: unknown = await provider.send('eth_getBlockByNumber', [toQuantity(block), false])
    const raws = blockSchema
      .parse(answer)
      .transactions.map((hash) => provider.send('eth_getRawTransactionByHash', [hash]))
    return (await Promise.all(raws)).map((raw) => Transaction.from(rawSchema.parse(raw)))
  }

  /** Removes the latest blocks, and puts as many others in their place, with some transactions later. */
  async function reorganize(depth: number, random: Random): Promise<void> {
    const head = await provider.getBlockNumber()
    const blocks = Array.from({ length: depth }, (_, index) => head - depth + 1 + index)
    const removed = (await Promise.all(blocks.map(transactionsOf))).flat()
    const { mined, delayed } = split(random, removed)
    const places = mined.map(() => random.integer(0, depth - 1)).toSorted((a, b) => a - b)
    const pairs = mined.map(({ serialized }, index) => [serialized, places[index]])
    await provider.send('anvil_reorg', [depth, pairs])
    // The replaced blocks' seconds are lost to anvil's clock: after many, the enclave would find each head too old.
    const { timestamp } = (await provider.getBlock('latest')) ?? { timestamp: 0 }
    const next = Math.max(Math.floor(Date.now() / 1_000), timestamp + 1)
    await provider.send('evm_setNextBlockTimestamp', [next])
    // The pool refuses a transaction that it still holds.
    for (const { serialized } of delayed) await accepts('eth_sendRawTransaction', [serialized])
  }

  /** Each resolves with whether there was an occasion. */
  const actions: Record<KindOf<'chain'>, (amount: number) => Promise<boolean>> = {
    async dropped(amount) {
      const waiting = await pooled()
      const one = waiting[amount % Math.max(1, waiting.length)]
      return one !== undefined && accepts('anvil_dropTransaction', [one.hash])
    },
    'base-fee': (amount) => accepts('anvil_setNextBlockBaseFeePerGas', [toQuantity(BigInt(amount) * GWEI)]),
    'outside-next': () => useElsewhere('pending'),
    'outside-replaces': () => useElsewhere('latest'),
  }

  /** Repeats an action between blocks until there was an occasion for it. @returns whether there was one in time */
  async function insist(action: () => Promise<boolean>): Promise<boolean> {
    const giveUpAt = performance.now() + LIMIT_MS
    while (performance.now() < giveUpAt) {
      if (await between(action)) return true
      await sleep(CHECK_MS)
    }
    return false
  }

  return {
    provider,
    between,
    relayers: wallets.map(({ address }) => address),
    strike: (kind: KindOf<'chain'>, amount: number) => insist(() => actions[kind](amount)),
    reorganize: ({ amount, seed }: Pick<Fault, 'amount' | 'seed'>) =>
      between(() => reorganize(amount, createRandom(seed))),
    /**
     * Kills a server between its sending of an opening that it has taken and the block that would have it, and lets the node forget what it
     * has sent.
     */
    forgetOpening: (isTaken: (orderId: Hex) => Promise<boolean>, kill: () => Promise<void>) =>
      insist(async () => {
        const [orderId] = (await pooled()).flatMap(({ input }) => openedByCall(input)?.orderId ?? [])
        if (orderId === undefined || !(await isTaken(orderId))) return false
        await kill()
        for (const { address } of wallets) await accepts('anvil_removePoolTransactions', [address])
        return true
      }),
    async stop() {
      stopping.abort()
      await mining
    },
  }
}

/** Splits those that come back in a block at once from delayed ones. A delayed one delays all later ones of its account. */
function split(random: Random, transactions: readonly Transaction[]) {
  const waiting = new Set<string | null>()
  const [mined, delayed]: [Transaction[], Transaction[]] = [[], []]
  for (const transaction of transactions) {
    if (random.chance(DELAYED)) waiting.add(transaction.from)
    ;(waiting.has(transaction.from) ? delayed : mined).push(transaction)
  }
  return { mined, delayed }
}
