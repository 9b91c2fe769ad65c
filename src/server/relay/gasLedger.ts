import type { Hex } from '../../protocol/hex.js'
import type { GasPurpose } from '../store/receipts.js'
import { createGasBookings, restOf } from './gasBookings.js'
import {
  createSums,
  type GasChange,
  type GasCount,
  type GasVersion,
  type HeldOrder,
  holderOf,
} from './gasCount.js'

/** A version of the shared count that includes this server's changes. */
export interface NextGas {
  readonly value: GasVersion
  /** Call it once the version is stored. */
  readonly written: () => void
}

/**
 * Today's gas (UTC): used, set aside and booked. This server's own gas is up to date. The gas of the others is as of the last
 * version that this server read.
 */
export interface GasLedger {
  /** Used, set aside or booked. */
  total(): bigint
  /** The same of one holder of a quota. */
  totalOf(holder: Hex): bigint
  /** Whether the shared count covers this server's gas and `more`. */
  isCovered(more: bigint): boolean
  /** Whether this server has used and booked nothing. */
  isUnused(): boolean
  /** Whether this server has set gas aside. */
  isSettingAside(): boolean
  /** Booked for held orders, less the part set aside from it, plus the bookings of the authorization `ahead`. */
  booked(ahead?: { purpose: GasPurpose; gas: bigint }): bigint
  /** Whether the authorization belongs to an order that is held, or about to be. */
  isOfHeld(purpose: GasPurpose): boolean
  /** What {@link GasLedger.put} would make of the sums. Changes nothing. */
  after(digest: Hex, purpose: GasPurpose, gas: bigint): Forecast
  /**
   * Sets gas aside, in place of what the digest had set aside and booked. For an order that is not held yet, it also books gas
   * for the mark and the end. @returns a function that undoes it
   */
  put(digest: Hex, purpose: GasPurpose, gas: bigint): () => void
  /** A transaction of the digest was mined. @returns a function that takes its gas off the quota, on the same day */
  spend(digest: Hex, gas: bigint): () => void
  /** A transaction of the digest may be mined: its limit counts as used until midnight. */
  lose(digest: Hex): void
  /** Counts the gas of a transaction that belongs to no authorization. */
  spendOther(gas: bigint): void
  /** This server sends nothing more for the digest. @returns whether there are bookings to store */
  end(digest: Hex, purpose: GasPurpose, isConfirmed: boolean): boolean
  /** The bookings of held orders, and of those that are about to be held. */
  bookings(): readonly HeldOrder[]
  /** Ends the bookings that the digests have made. @returns whether there were any */
  endBookingsOf(digests: readonly Hex[]): boolean
  /** This server sends nothing for the digest, and another one may. @returns whether anything was set aside */
  release(digest: Hex): boolean
  day(): number
  /** Takes over another server's version, and adds what this server has not stored yet. */
  merge(version: GasVersion): void
  /**
   * @param margin gas that this server may use before it stores the next version
   * @param mustBeFull whether the version may not depend on the one before it
   */
  next(margin: bigint, mustBeFull: boolean): NextGas
}

/** Sums once an authorization's gas is set aside. */
export interface Forecast {
  readonly total: bigint
  /** Of the quota's holder. */
  readonly ofHolder: bigint
  /** The part of that which other authorizations have. */
  readonly ofOthers: bigint
}

const DAY_MS = 86_400_000
/**
 * The most that an order's end needs beyond its write-ahead. Both write a portfolio of the same length. The end also moves
 * USDC or makes a claim, which takes 90,000 at most.
 */
const END_EXTRA = 120_000n
/** A deadline is 30 days ahead at most, and a reclaim 7 days later. No order needs an older booking. */
const MAX_HELD_DAYS = 40

/** A server's part of the shared count: its gas with its margin, and the gas of each holder of a quota. */
interface Part {
  readonly gas: bigint
  readonly by: Map<Hex, bigint>
}
const noPart = (): Part => ({ gas: 0n, by: new Map() })

/** The gas set aside for a digest. */
interface Reservation {
  readonly purpose: GasPurpose
  readonly gas: bigint
  /** The held order whose booking it draws on. */
  readonly drawsOn: Hex | undefined
}

/** @param now milliseconds since 1970 */
export function createGasLedger(now: () => number): GasLedger {
  /** Holders whose gas may differ from this server's part of the shared count. */
  const touched = new Set<Hex>()
  const touch = (holder: Hex) => touched.add(holder)
  const spent = createSums(touch)
  const setAside = createSums(touch)
  /** The other servers' gas. */
  const others = createSums()
  const bookings = createGasBookings()
  /** This server's part of the shared count. */
  let stored = noPart()
  const reserved = new Map<Hex, Reservation>()
  /** The day of the last version. The clock of the server that wrote it may be ahead. */
  let sharedDay = 0
  function today(): number {
    const own = Math.floor(now() / DAY_MS)
    return sharedDay === own + 1 ? sharedDay : own
  }
  let day = today()

  function rollOverDay(): void {
    if (today() === day) return
    day = today()
    spent.clear()
    forgetPart()
    endOldBookings()
  }

  function endOldBookings(): void {
    for (const { orderId, day: since } of [...bookings.all()])
      if (day - since > MAX_HELD_DAYS) bookings.book(orderId, undefined)
  }

  /** For a shared count that includes nothing of this server, and as far as is known nothing of others. */
  function forgetPart(): void {
    others.clear()
    stored = noPart()
    for (const holder of ownHolders()) touched.add(holder)
  }

  const ownHolders = () => [...spent.by.keys(), ...setAside.by.keys()]

  const isOfHeld = (purpose: GasPurpose) =>
    purpose.kind === 'finish' || (purpose.kind === 'hold' && bookings.of(purpose.orderId) !== undefined)

  function reserve(digest: Hex, reservation: Reservation): void {
    const { purpose, gas, drawsOn } = reservation
    reserved.set(digest, reservation)
    setAside.add(holderOf(purpose), gas)
    if (drawsOn !== undefined) bookings.draw(drawsOn, gas)
  }

  /** @returns what was set aside */
  function free(digest: Hex): Reservation | undefined {
    const reservation = reserved.get(digest)
    if (reservation === undefined) return undefined
    reserved.delete(digest)
    const { purpose, gas, drawsOn } = reservation
    setAside.add(holderOf(purpose), -gas)
    if (drawsOn !== undefined) bookings.draw(drawsOn, -gas)
    return reservation
  }

  /** Whether the digest has made the booking of its order. */
  const hasBooked = (digest: Hex, purpose: GasPurpose) =>
    purpose.kind === 'hold' && bookings.of(purpose.orderId)?.by === digest

  /** For mark and end. Undefined for an authorization that holds no order. */
  function bookingFor(purpose: GasPurpose, gas: bigint, digest: Hex): HeldOrder | undefined {
    if (purpose.kind !== 'hold') return undefined
    const { orderId, account } = purpose
    return { orderId, account, gas: gas + END_EXTRA, mark: gas, day, by: digest }
  }

  /** Whether the digest makes its order's booking, or makes it anew. */
  const books = (digest: Hex, purpose: GasPurpose) =>
    purpose.kind === 'hold' && (!isOfHeld(purpose) || hasBooked(digest, purpose))

  function after(digest: Hex, purpose: GasPurpose, gas: bigint): Forecast {
    rollOverDay()
    const holder = holderOf(purpose)
    const orderId = 'orderId' in purpose ? purpose.orderId : undefined
    const own = reserved.get(digest)
    const order = orderId === undefined ? undefined : bookings.of(orderId)
    const drawnGas = orderId === undefined ? 0n : bookings.drawnOf(orderId)
    const drawnByOthers = drawnGas - (own?.drawsOn === undefined ? 0n : own.gas)
    const isBooked = books(digest, purpose)
    const restOfOthers = isBooked ? 0n : restOf(order, drawnByOthers)
    const booking = isBooked ? bookingFor(purpose, gas, digest) : order
    const restAfter = restOf(booking, isBooked ? drawnByOthers : drawnByOthers + gas)
    const freed = restOf(order, drawnGas) + (own?.gas ?? 0n)
    const ofOthers = holder === undefined ? 0n : totalOf(holder) - freed + restOfOthers
    return {
      total: total() - freed + gas + restAfter,
      ofHolder: ofOthers - restOfOthers + gas + restAfter,
      ofOthers,
    }
  }

  function total(): bigint {
    rollOverDay()
    return others.all() + own() + bookings.sums.all()
  }

  function totalOf(holder: Hex): bigint {
    rollOverDay()
    return others.of(holder) + ownOf(holder) + bookings.sums.of(holder)
  }

  /**
   * A further write of a held order has used what was booked for one. The booking is its own from now on: the write that made it may
   * have failed, where an enclave that restarted has sealed another one.
   */
  function marked(digest: Hex, orderId: Hex): void {
    const order = bookings.of(orderId)
    if (order !== undefined && order.by !== digest)
      bookings.book(orderId, { ...order, mark: 0n, by: digest }, order.by)
  }

  function unbook(orderId: Hex): void {
    if (bookings.of(orderId) !== undefined) bookings.book(orderId, undefined)
  }

  const own = () => spent.all() + setAside.all()

  function ownOf(holder: Hex): bigint {
    return spent.of(holder) + setAside.of(holder)
  }

  /** A version of another day includes no part of this server's. */
  function isOfToday(dayOf: number): boolean {
    sharedDay = dayOf
    rollOverDay()
    if (dayOf !== day) forgetPart()
    return dayOf === day
  }

  function addToOthers(all: bigint, holders: GasCount['holders']): void {
    const ofHolders = holders.reduce((sum, { gas }) => sum + gas, 0n)
    for (const { holder, gas } of holders) others.add(holder, gas)
    others.add(undefined, all - ofHolders)
  }

  function mergeCount(count: GasCount): void {
    if (isOfToday(count.day)) {
      others.clear()
      const ofOthers = count.holders.map(({ holder, gas }) => ({
        holder,
        gas: gas - (stored.by.get(holder) ?? 0n),
      }))
      addToOthers(count.gas - stored.gas, ofOthers)
    }
    const known = new Map(count.held.map((order) => [order.orderId, order]))
    const gone = [...bookings.all()].filter(({ orderId }) => !known.has(orderId))
    for (const { orderId } of gone) bookings.merge(orderId, undefined)
    for (const [orderId, order] of known) bookings.merge(orderId, order)
    endOldBookings()
  }

  function mergeChange(change: GasChange): void {
    if (isOfToday(change.day)) addToOthers(change.gas, change.holders)
    for (const { orderId, order } of change.held) bookings.mergeChange(orderId, order ?? undefined)
  }

  function fullCount(gas: bigint): GasCount {
    const holders = new Set([...others.by.keys(), ...ownHolders()])
    return {
      day,
      gas: others.all() + gas,
      holders: [...holders].map((holder) => ({ holder, gas: others.of(holder) + ownOf(holder) })),
      held: [...bookings.all()],
    }
  }

  function changeTo(gas: bigint, by: ReadonlyMap<Hex, bigint>, held: GasChange['held']): GasChange {
    const differences = [...by].map(([holder, sum]) => ({ holder, gas: sum - (stored.by.get(holder) ?? 0n) }))
    return {
      day,
      gas: gas - stored.gas,
      holders: differences.filter((each) => each.gas !== 0n),
      held,
    }
  }

  return {
    total,
    totalOf,
    isCovered(more) {
      rollOverDay()
      return own() + more <= stored.gas
    },
    isUnused: () => own() === 0n && !bookings.hasChanges(),
    isSettingAside: () => reserved.size > 0,
    booked(ahead) {
      const more =
        ahead?.purpose.kind === 'hold' && !isOfHeld(ahead.purpose) ? 2n * ahead.gas + END_EXTRA : 0n
      return bookings.sums.all() + more
    },
    isOfHeld,
    after,
    put(digest, purpose, gas) {
      rollOverDay()
      const isBooked = books(digest, purpose)
      const booking = isBooked ? bookingFor(purpose, gas, digest) : undefined
      const drawsOn = 'orderId' in purpose && !isBooked ? purpose.orderId : undefined
      const before = free(digest)
      reserve(digest, { purpose, gas, drawsOn })
      const unbook = booking && bookings.book(booking.orderId, booking)
      return () => {
        free(digest)
        unbook?.()
        if (before !== undefined) reserve(digest, before)
      }
    },
    spend(digest, gas) {
      rollOverDay()
      const freed = free(digest)
      const holder = freed && holderOf(freed.purpose)
      spent.add(holder, gas)
      const spentOn = day
      return () => {
        rollOverDay()
        if (day !== spentOn) return
        spent.add(holder, -gas)
        spent.add(undefined, gas)
      }
    },
    lose(digest) {
      rollOverDay()
      const freed = free(digest)
      if (freed !== undefined) spent.add(holderOf(freed.purpose), freed.gas)
    },
    spendOther(gas) {
      rollOverDay()
      spent.add(undefined, gas)
    },
    end(digest, purpose, isConfirmed) {
      free(digest)
      if (!isConfirmed) {
        if (hasBooked(digest, purpose) && purpose.kind === 'hold')
          bookings.book(purpose.orderId, undefined, digest)
      } else if (purpose.kind === 'finish') unbook(purpose.orderId)
      else if (purpose.kind === 'hold') marked(digest, purpose.orderId)
      return bookings.hasChanges()
    },
    bookings: () => [...bookings.all()],
    endBookingsOf(digests) {
      const ended = [...bookings.all()].filter(({ by }) => digests.includes(by))
      for (const { orderId, by } of ended) bookings.book(orderId, undefined, by)
      return ended.length > 0
    },
    release: (digest) => free(digest) !== undefined,
    day() {
      rollOverDay()
      return day
    },
    merge(version) {
      if ('count' in version) mergeCount(version.count)
      else mergeChange(version.change)
    },
    next(margin, mustBeFull) {
      rollOverDay()
      const isFull = mustBeFull || sharedDay !== day
      const gas = own() + margin
      const changed = isFull ? [...ownHolders(), ...touched] : [...touched]
      const by = new Map(changed.map((holder) => [holder, ownOf(holder)]))
      const bookingsMade = bookings.changed()
      const dayOf = day
      return {
        value: isFull ? { count: fullCount(gas) } : { change: changeTo(gas, by, bookingsMade.held) },
        written() {
          sharedDay = dayOf
          rollOverDay()
          bookingsMade.written()
          if (day !== dayOf) return
          stored = { gas, by: stored.by }
          for (const [holder, part] of by) {
            stored.by.set(holder, part)
            if (ownOf(holder) === part) touched.delete(holder)
          }
        },
      }
    },
  }
}
