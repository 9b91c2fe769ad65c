import type { Hex } from '../../protocol/hex.js'
import type { GasPurpose } from '../store/receipts.js'
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
  /** Undoes what the digest has set aside and booked. @returns a function that restores it */
  take(digest: Hex, purpose: GasPurpose): () => void
  /** Sets gas aside. For an order that is not held yet, it also books gas for the mark and the end. */
  put(digest: Hex, purpose: GasPurpose, gas: bigint): void
  /** A transaction of the digest was mined. @returns a function that takes its gas off the quota, on the same day */
  spend(digest: Hex, gas: bigint): () => void
  /** A transaction of the digest may be mined: its limit counts as used until midnight. */
  lose(digest: Hex): void
  /** Counts the gas of a transaction that belongs to no authorization. */
  spendOther(gas: bigint): void
  /** This server sends nothing more for the digest. @returns whether there are bookings to store */
  end(digest: Hex, purpose: GasPurpose, isConfirmed: boolean): boolean
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

/** A change of a booking. */
interface Change {
  /** Undefined ends the booking. */
  readonly order: HeldOrder | undefined
  /** The digest whose booking it ends. Another server's booking of the order stays. */
  readonly onlyOf: Hex | undefined
}

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
  const booked = createSums()
  /** This server's part of the shared count. */
  let stored = noPart()
  /** Bookings that this server has made or ended, and not stored yet. */
  const changes = new Map<Hex, Change>()
  const reserved = new Map<Hex, Reservation>()
  const held = new Map<Hex, HeldOrder>()
  /** Gas set aside for marks and ends of orders. It replaces the same part of their bookings. */
  const drawn = new Map<Hex, bigint>()
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
    for (const [orderId, order] of held) if (day - order.day > MAX_HELD_DAYS) book(orderId, undefined)
  }

  /** For a shared count that includes nothing of this server, and as far as is known nothing of others. */
  function forgetPart(): void {
    others.clear()
    stored = noPart()
    for (const holder of ownHolders()) touched.add(holder)
  }

  const ownHolders = () => [...spent.by.keys(), ...setAside.by.keys()]

  /** Adds or subtracts an order's booking, less the part set aside from it. */
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

  /** @returns the gas that was set aside */
  function free(digest: Hex) {
    const reservation = reserved.get(digest)
    if (reservation === undefined) return undefined
    reserved.delete(digest)
    setAside.add(holderOf(reservation.purpose), -reservation.gas)
    draw(reservation.drawsOn, -reservation.gas)
    return { ...reservation, holder: holderOf(reservation.purpose) }
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
    for (const orderId of held.keys()) if (!known.has(orderId)) hold(orderId, undefined)
    for (const [orderId, order] of known) {
      if (day - order.day > MAX_HELD_DAYS) book(orderId, undefined)
      else hold(orderId, order)
    }
    for (const orderId of changes.keys()) keepChange(orderId, known.get(orderId))
  }

  function mergeChange(change: GasChange): void {
    if (isOfToday(change.day)) addToOthers(change.gas, change.holders)
    for (const { orderId, order } of change.held) {
      hold(orderId, order ?? undefined)
      keepChange(orderId, order ?? undefined)
    }
  }

  /** Applies this server's unstored change of an order again, over another server's version. */
  function keepChange(orderId: Hex, order: HeldOrder | undefined): void {
    const change = changes.get(orderId)
    if (change !== undefined && (change.onlyOf === undefined || change.onlyOf === order?.by))
      hold(orderId, change.order)
  }

  function fullCount(gas: bigint): GasCount {
    const holders = new Set([...others.by.keys(), ...ownHolders()])
    return {
      day,
      gas: others.all() + gas,
      holders: [...holders].map((holder) => ({ holder, gas: others.of(holder) + ownOf(holder) })),
      held: [...held.values()],
    }
  }

  function changeTo(gas: bigint, by: ReadonlyMap<Hex, bigint>): GasChange {
    const differences = [...by].map(([holder, sum]) => ({ holder, gas: sum - (stored.by.get(holder) ?? 0n) }))
    return {
      day,
      gas: gas - stored.gas,
      holders: differences.filter((each) => each.gas !== 0n),
      held: [...changes.keys()].map((orderId) => ({ orderId, order: held.get(orderId) ?? null })),
    }
  }

  return {
    total() {
      rollOverDay()
      return others.all() + own() + booked.all()
    },
    totalOf(holder) {
      rollOverDay()
      return others.of(holder) + ownOf(holder) + booked.of(holder)
    },
    isCovered(more) {
      rollOverDay()
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
      rollOverDay()
      reserve(digest, purpose, gas)
      const more = toBook(purpose, gas)
      if (purpose.kind !== 'hold' || more === 0n) return
      const { orderId, account } = purpose
      book(orderId, { orderId, account, gas: gas + END_EXTRA, mark: gas, day, by: digest })
    },
    spend(digest, gas) {
      rollOverDay()
      const holder = free(digest)?.holder
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
      const { gas: limit = 0n, holder } = free(digest) ?? {}
      spent.add(holder, limit)
    },
    spendOther(gas) {
      rollOverDay()
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
      const made = new Map(changes)
      const dayOf = day
      return {
        value: isFull ? { count: fullCount(gas) } : { change: changeTo(gas, by) },
        written() {
          sharedDay = dayOf
          rollOverDay()
          for (const [orderId, change] of made) if (changes.get(orderId) === change) changes.delete(orderId)
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
