import { setTimeout as sleep } from 'node:timers/promises'
import { Interface, type JsonRpcProvider } from 'ethers'
import * as z from 'zod'
import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'
import { bytes32Schema, type Hex } from '../../src/protocol/hex.js'
import { handled } from './handled.js'

/** An order as the escrow's events show it. */
interface SeenOrder {
  /** The block that opened it. */
  readonly openedIn: number
  readonly ends: readonly SeenEnd[]
}

interface SeenEnd {
  readonly state: 'SETTLED' | 'REFUNDED'
  readonly block: number
  /** When the reader saw that block, as `performance.now()`. */
  readonly atMs: number
}

export type EscrowReader = Awaited<ReturnType<typeof startEscrowReader>>

/** A run whose process is lost is waited for until thirty seconds after its end, 150 s. */
const STALL_MS = 200_000
const LOOK_MS = 20
const escrow = new Interface(orderEscrowAbi)
const quantity = z.string().transform(Number)
const eventSchema = z.object({
  name: z.enum(['OrderOpened', 'OrderSettled', 'OrderRefunded']),
  orderId: bytes32Schema,
})

/** Follows the escrow's events, one look for each new block, however many orders there are. */
export async function startEscrowReader(provider: JsonRpcProvider, address: Hex) {
  const orders = new Map<Hex, { openedIn: number; ends: SeenEnd[] }>()
  const over = new AbortController()
  const readHead = async () => quantity.parse(await provider.send('eth_blockNumber', []))
  let head = await readHead()
  const looking = handled(look())

  async function look(): Promise<void> {
    while (!over.signal.aborted) {
      const next = await readHead()
      const atMs = performance.now()
      if (next > head) {
        await read(head + 1, next, atMs)
        head = next
      }
      await sleep(LOOK_MS)
    }
  }

  async function read(fromBlock: number, toBlock: number, atMs: number): Promise<void> {
    for (const log of await provider.getLogs({ address, fromBlock, toBlock })) {
      const parsed = escrow.parseLog(log)
      const event = eventSchema.safeParse({ name: parsed?.name, ...parsed?.args.toObject() })
      if (!event.success) continue
      const { name, orderId } = event.data
      const block = log.blockNumber
      if (name === 'OrderOpened') orders.set(orderId, { openedIn: block, ends: [] })
      else
        orders
          .get(orderId)
          ?.ends.push({ state: name === 'OrderSettled' ? 'SETTLED' : 'REFUNDED', block, atMs })
    }
  }

  return {
    orders: orders as ReadonlyMap<Hex, SeenOrder>,
    /** Resolves when each of them has ended, whichever way. @throws when none has ended for `STALL_MS` */
    async untilEnded(orderIds: readonly Hex[]): Promise<void> {
      const count = () => orderIds.filter((orderId) => (orders.get(orderId)?.ends.length ?? 0) > 0).length
      let [seen, ended, lastEndAt] = [-1, -1, performance.now()]
      while (ended < orderIds.length) {
        // A reader that failed must not be waited for.
        await Promise.race([sleep(LOOK_MS), looking])
        if (head === seen) continue
        seen = head
        const now = count()
        if (now > ended) lastEndAt = performance.now()
        ended = now
        if (performance.now() - lastEndAt > STALL_MS) {
          throw new Error(`${orderIds.length - ended} of ${orderIds.length} orders do not end`)
        }
      }
    },
    async stop() {
      over.abort()
      await looking
    },
  }
}
