import { z } from 'zod'
import { addressSchema } from '../../protocol/address.js'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import { uint256Schema } from '../../protocol/units.js'
import type { GasPurpose } from '../store/receipts.js'
import type { CorrectGas } from '../txManager/pendingTx.js'

/** Days since 1970, UTC. */
const daySchema = z.int().min(0)

/** Gas that an order still needs, booked by the write that began to hold it. */
const heldOrderSchema = z.strictObject({
  orderId: bytes32Schema,
  account: addressSchema,
  /** For its end. */
  gas: uint256Schema,
  /** For the write that marks it as never placed, until that is confirmed. */
  mark: uint256Schema,
  /** When it was booked, and by which digest. */
  day: daySchema,
  by: bytes32Schema,
})
type HeldOrder = z.output<typeof heldOrderSchema>

/** What outlives the process. */
export const storedGasSchema = z.strictObject({
  day: daySchema,
  /** Used or set aside, without what is booked for held orders. */
  gas: uint256Schema,
  /** The same of each holder of a quota: an account's address, or an institution's id. */
  holders: z.array(z.strictObject({ holder: z.union([addressSchema, bytes32Schema]), gas: uint256Schema })),
  held: z.array(heldOrderSchema),
})
export type StoredGas = z.output<typeof storedGasSchema>

/** What today's gas (UTC) is used, set aside and booked for. */
export interface GasLedger {
  /** Used, set aside or booked. */
  total(): bigint
  /** The same of one holder of a quota. */
  totalOf(holder: Hex): bigint
  /** Used or set aside: transactions that are sent use no more of today's gas. */
  committed(): bigint
  /** Booked for held orders, less what is set aside from that; with what the authorization would book, where one is given. */
  booked(ahead?: { purpose: GasPurpose; gas: bigint }): bigint
  /** Booked since {@link GasLedger.store}. */
  unstored(): bigint
  /** Whether the authorization takes an order further that is held, or about to be. */
  isOfHeld(purpose: GasPurpose): boolean
  /** Takes back what the digest has set aside and booked. @returns puts it there again */
  take(digest: Hex, purpose: GasPurpose): () => void
  /** Sets gas aside; for an order that is not held yet, books what its mark and its end may need besides. */
  put(digest: Hex, purpose: GasPurpose, gas: bigint): void
  /** A transaction of the digest was mined. */
  spend(digest: Hex, gas: bigint): void
  /** A transaction of the digest may be mined: its limit counts as used. */
  lose(digest: Hex): CorrectGas
  /** A transaction that belongs to no authorization. */
  spendOther(gas: bigint): void
  /** Nothing more will be sent for the digest. @returns whether a booking ended with it */
  end(digest: Hex, purpose: GasPurpose, isConfirmed: boolean): boolean
  day(): number
  store(): StoredGas
  load(stored: StoredGas): void
}

const DAY_MS = 86_400_000
/**
 * What an order's end may need beyond its write-ahead, at its limit: it writes a portfolio of the same length, and moves
 * USDC or makes a claim of it, which takes 90,000 at most.
 */
const END_EXTRA = 120_000n
/** A deadline is 30 days ahead at most, and a reclaim 7 days later. After that a forgotten booking serves no order. */
const MAX_HELD_DAYS = 40

/** Whose quota the gas counts on. */
export function holderOf(purpose: GasPurpose): Hex | undefined {
  if (purpose.kind === 'platform') return undefined
  return purpose.kind === 'institution' ? purpose.orgId : purpose.account
}

/** Gas by holder, and of all holders and the platform together. */
function createSums() {
  const by = new Map<Hex, bigint>()
  let all = 0n
  return {
    by,
    all: () => all,
    of: (holder: Hex) => by.get(holder) ?? 0n,
    add(holder: Hex | undefined, gas: bigint) {
      all += gas
      if (holder === undefined) return
      const sum = (by.get(holder) ?? 0n) + gas
      if (sum === 0n) by.delete(holder)
      else by.set(holder, sum)
    },
    clear() {
      all = 0n
      by.clear()
    },
  }
}

/** What is set aside for a digest. */
interface Reservation {
  readonly purpose: GasPurpose
  readonly gas: bigint
  /** The held order whose booking it draws on. */
  readonly drawsOn: Hex | undefined
}

/** @param now milliseconds since 1970 */
export function createGasLedger(now: () => number): GasLedger {
  const spent = createSums()
  const setAside = createSums()
  const booked = createSums()
  const reserved = new Map<Hex, Reservation>()
  const held = new Map<Hex, HeldOrder>()
  /** Set aside for marks and ends of orders: it takes the place of what is booked for them. */
  const drawn = new Map<Hex, bigint>()
  const today = () => Math.floor(now() / DAY_MS)
  let day = today()
  let unstored = 0n

  function turn(): void {
    if (today() === day) return
    day = today()
    spent.clear()
    for (const [orderId, order] of held) if (day - order.day > MAX_HELD_DAYS) hold(orderId, undefined)
  }

  /** Counts what is booked for an order by how it stands, less what is set aside from that. */
  function count(orderId: Hex, sign: 1n | -1n): void {
    const order = held.get(orderId)
    if (order === undefined) return
    const rest = order.gas + order.mark - (drawn.get(orderId) ?? 0n)
    if (rest > 0n) booked.add(order.account, sign * rest)
  }

  function hold(orderId: Hex, order: HeldOrder | undefined): void {
    count(orderId, -1n)
    if (order === undefined) held.delete(orderId)
    else held.set(orderId, order)
    count(orderId, 1n)
  }

  function draw(orderId: Hex | undefined, change: bigint): void {
    if (orderId === undefined) return
    count(orderId, -1n)
    const gas = (drawn.get(orderId) ?? 0n) + change
    if (gas === 0n) drawn.delete(orderId)
    else drawn.set(orderId, gas)
    count(orderId, 1n)
  }

  const isOfHeld = (purpose: GasPurpose) =>
    purpose.kind === 'finish' || (purpose.kind === 'hold' && held.has(purpose.orderId))

  /** For mark and end of an order that is not held yet. */
  const toBook = (purpose: GasPurpose, gas: bigint) =>
    purpose.kind === 'hold' && !isOfHeld(purpose) ? 2n * gas + END_EXTRA : 0n

  function reserve(digest: Hex, purpose: GasPurpose, gas: bigint): void {
    free(digest)
    const drawsOn = 'orderId' in purpose && isOfHeld(purpose) ? purpose.orderId : undefined
    reserved.set(digest, { purpose, gas, drawsOn })
    setAside.add(holderOf(purpose), gas)
    draw(drawsOn, gas)
  }

  /** @returns what was set aside */
  function free(digest: Hex) {
    const own = reserved.get(digest)
    if (own === undefined) return undefined
    reserved.delete(digest)
    setAside.add(holderOf(own.purpose), -own.gas)
    draw(own.drawsOn, -own.gas)
    return { ...own, holder: holderOf(own.purpose) }
  }

  /** The order that the digest has booked. */
  function bookingOf(digest: Hex, purpose: GasPurpose): HeldOrder | undefined {
    const order = purpose.kind === 'hold' ? held.get(purpose.orderId) : undefined
    return order?.by === digest ? order : undefined
  }

  function drop(digest: Hex, purpose: GasPurpose): HeldOrder | undefined {
    const order = bookingOf(digest, purpose)
    if (order !== undefined) hold(order.orderId, undefined)
    return order
  }

  /** A further write of a held order has used what was booked for one. */
  function marked(digest: Hex, orderId: Hex): void {
    const order = held.get(orderId)
    if (order !== undefined && order.by !== digest) hold(orderId, { ...order, mark: 0n })
  }

  function committed(): bigint {
    turn()
    return spent.all() + setAside.all()
  }

  return {
    total: () => committed() + booked.all(),
    totalOf(holder) {
      turn()
      return spent.of(holder) + setAside.of(holder) + booked.of(holder)
    },
    committed,
    booked: (ahead) => booked.all() + (ahead === undefined ? 0n : toBook(ahead.purpose, ahead.gas)),
    unstored: () => unstored,
    isOfHeld,
    take(digest, purpose) {
      const order = drop(digest, purpose)
      const own = free(digest)
      return () => {
        free(digest)
        drop(digest, purpose)
        if (own !== undefined) reserve(digest, own.purpose, own.gas)
        if (order !== undefined) hold(order.orderId, order)
      }
    },
    put(digest, purpose, gas) {
      turn()
      reserve(digest, purpose, gas)
      const more = toBook(purpose, gas)
      if (purpose.kind !== 'hold' || more === 0n) return
      const { orderId, account } = purpose
      hold(orderId, { orderId, account, gas: gas + END_EXTRA, mark: gas, day, by: digest })
      unstored += more
    },
    spend(digest, gas) {
      turn()
      spent.add(free(digest)?.holder, gas)
    },
    lose(digest) {
      turn()
      const { gas: limit = 0n, holder } = free(digest) ?? {}
      spent.add(holder, limit)
      const lostOn = day
      return (gas) => {
        turn()
        if (day === lostOn && gas < limit) spent.add(holder, gas - limit)
      }
    },
    spendOther(gas) {
      turn()
      spent.add(undefined, gas)
    },
    end(digest, purpose, isConfirmed) {
      free(digest)
      const booked = held.size
      if (!isConfirmed) drop(digest, purpose)
      else if (purpose.kind === 'finish') hold(purpose.orderId, undefined)
      else if (purpose.kind === 'hold') marked(digest, purpose.orderId)
      return held.size < booked
    },
    day() {
      turn()
      return day
    },
    store() {
      const gas = committed()
      unstored = 0n
      const holders = [...new Set([...spent.by.keys(), ...setAside.by.keys()])]
      return {
        day,
        gas,
        holders: holders.map((holder) => ({ holder, gas: spent.of(holder) + setAside.of(holder) })),
        held: [...held.values()],
      }
    },
    load(stored) {
      day = stored.day
      for (const order of stored.held) hold(order.orderId, order)
      for (const { holder, gas } of stored.holders) spent.add(holder, gas)
      spent.add(undefined, stored.gas - spent.all())
      turn()
    },
  }
}
