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

/** The count that all servers share. */
export const storedGasSchema = z.strictObject({
  day: daySchema,
  /** Used or set aside, without what is booked for held orders. */
  gas: uint256Schema,
  /** The same of each holder of a quota: an account's address, or an institution's id. */
  holders: z.array(z.strictObject({ holder: z.union([addressSchema, bytes32Schema]), gas: uint256Schema })),
  held: z.array(heldOrderSchema),
})
export type StoredGas = z.output<typeof storedGasSchema>

/** A version of the shared count with this server's changes in it. */
export interface NextGas {
  readonly value: StoredGas
  /** To be called once the version is stored. */
  readonly written: () => void
}

/**
 * What today's gas (UTC) is used, set aside and booked for: by this server as it happens, by the others as the shared count had
 * it when it was last read.
 */
export interface GasLedger {
  /** Used, set aside or booked. */
  total(): bigint
  /** The same of one holder of a quota. */
  totalOf(holder: Hex): bigint
  /** Whether the shared count covers all of this server's gas, and so much more. */
  isCovered(more: bigint): boolean
  /** Whether this server has used and booked nothing. */
  isUnused(): boolean
  /** Whether this server has set gas aside. */
  isSettingAside(): boolean
  /** Booked for held orders, less what is set aside from that; with what the authorization would book, where one is given. */
  booked(ahead?: { purpose: GasPurpose; gas: bigint }): bigint
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
  /** Nothing more will be sent for the digest. @returns whether there are bookings to store */
  end(digest: Hex, purpose: GasPurpose, isConfirmed: boolean): boolean
  /** This server sends nothing for the digest, and another one may. @returns whether anything was set aside */
  release(digest: Hex): boolean
  day(): number
  /** Takes over a version of the shared count, and adds what this server has not stored in it yet. */
  merge(stored: StoredGas): void
  /** @param margin gas that this server may use before it stores the count again */
  next(margin: bigint): NextGas
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

/** A server's part of the shared count: its gas and margin, and the gas of each holder of a quota. */
interface Part {
  readonly gas: bigint
  readonly by: ReadonlyMap<Hex, bigint>
}
const NO_PART: Part = { gas: 0n, by: new Map() }

/** A booking as it shall be. */
interface Change {
  readonly order: HeldOrder | undefined
  /** The digest whose booking it ends. Another server's booking of the order stays. */
  readonly onlyOf: Hex | undefined
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
  /** The other servers' gas. */
  const others = createSums()
  const booked = createSums()
  /** This server's part of the shared count. */
  let stored = NO_PART
  /** Bookings that this server has made or ended, and not stored yet. */
  const changes = new Map<Hex, Change>()
  const reserved = new Map<Hex, Reservation>()
  const held = new Map<Hex, HeldOrder>()
  /** Set aside for marks and ends of orders: it takes the place of what is booked for them. */
  const drawn = new Map<Hex, bigint>()
  /** The shared count's day, where the clock of another server is ahead. */
  let sharedDay = 0
  function today(): number {
    const own = Math.floor(now() / DAY_MS)
    return sharedDay === own + 1 ? sharedDay : own
  }
  let day = today()

  function turn(): void {
    if (today() === day) return
    day = today()
    spent.clear()
    others.clear()
    stored = NO_PART
    for (const [orderId, order] of held) if (day - order.day > MAX_HELD_DAYS) book(orderId, undefined)
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

  /** Changes a booking, to be stored with the next version. */
  function book(orderId: Hex, order: HeldOrder | undefined, onlyOf?: Hex): void {
    hold(orderId, order)
    changes.set(orderId, { order, onlyOf })
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
    if (order !== undefined) book(order.orderId, undefined, digest)
    return order
  }

  /** A further write of a held order has used what was booked for one. */
  function marked(digest: Hex, orderId: Hex): void {
    const order = held.get(orderId)
    if (order !== undefined && order.by !== digest) book(orderId, { ...order, mark: 0n })
  }

  const own = () => spent.all() + setAside.all()

  function ownOf(holder: Hex): bigint {
    return spent.of(holder) + setAside.of(holder)
  }

  /** This server's part of a version that has just been read: none, where it is of another day. */
  function mergeGas(count: StoredGas): void {
    others.clear()
    if (count.day !== day) {
      stored = NO_PART
      return
    }
    for (const { holder, gas } of count.holders) others.add(holder, gas - (stored.by.get(holder) ?? 0n))
    others.add(undefined, count.gas - stored.gas - others.all())
  }

  return {
    total() {
      turn()
      return others.all() + own() + booked.all()
    },
    totalOf(holder) {
      turn()
      return others.of(holder) + ownOf(holder) + booked.of(holder)
    },
    isCovered(more) {
      turn()
      return own() + more <= stored.gas
    },
    isUnused: () => own() === 0n && changes.size === 0,
    isSettingAside: () => reserved.size > 0,
    booked: (ahead) => booked.all() + (ahead === undefined ? 0n : toBook(ahead.purpose, ahead.gas)),
    isOfHeld,
    take(digest, purpose) {
      const orderId = 'orderId' in purpose ? purpose.orderId : undefined
      const change = orderId === undefined ? undefined : changes.get(orderId)
      const order = drop(digest, purpose)
      const ofDigest = free(digest)
      return () => {
        free(digest)
        drop(digest, purpose)
        if (ofDigest !== undefined) reserve(digest, ofDigest.purpose, ofDigest.gas)
        if (order !== undefined) hold(order.orderId, order)
        if (orderId !== undefined && change !== undefined) changes.set(orderId, change)
      }
    },
    put(digest, purpose, gas) {
      turn()
      reserve(digest, purpose, gas)
      const more = toBook(purpose, gas)
      if (purpose.kind !== 'hold' || more === 0n) return
      const { orderId, account } = purpose
      book(orderId, { orderId, account, gas: gas + END_EXTRA, mark: gas, day, by: digest })
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
      if (!isConfirmed) drop(digest, purpose)
      else if (purpose.kind === 'finish') book(purpose.orderId, undefined)
      else if (purpose.kind === 'hold') marked(digest, purpose.orderId)
      return changes.size > 0
    },
    release: (digest) => free(digest) !== undefined,
    day() {
      turn()
      return day
    },
    merge(count) {
      sharedDay = count.day
      turn()
      mergeGas(count)
      const known = new Map(count.held.map((order) => [order.orderId, order]))
      for (const orderId of held.keys()) if (!known.has(orderId)) hold(orderId, undefined)
      for (const [orderId, order] of known) {
        if (day - order.day > MAX_HELD_DAYS) book(orderId, undefined)
        else hold(orderId, order)
      }
      for (const [orderId, { order, onlyOf }] of changes) {
        if (onlyOf === undefined || onlyOf === known.get(orderId)?.by) hold(orderId, order)
      }
    },
    next(margin) {
      turn()
      const gas = own() + margin
      const by = new Map([...spent.by.keys(), ...setAside.by.keys()].map((holder) => [holder, ownOf(holder)]))
      const made = new Map(changes)
      const holders = [...new Set([...others.by.keys(), ...by.keys()])]
      const dayOf = day
      return {
        value: {
          day,
          gas: others.all() + gas,
          holders: holders.map((holder) => ({ holder, gas: others.of(holder) + (by.get(holder) ?? 0n) })),
          held: [...held.values()],
        },
        written() {
          turn()
          if (day === dayOf) stored = { gas, by }
          for (const [orderId, change] of made) if (changes.get(orderId) === change) changes.delete(orderId)
        },
      }
    },
  }
}
