import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { max, min } from '../../chain/fees.js'
import { addressSchema } from '../../protocol/address.js'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import { isFinal } from '../../protocol/relayReceipt.js'
import { uint256Schema } from '../../protocol/units.js'
import { describeError, type Logger } from '../../service/logger.js'
import type { Config } from '../config/config.js'
import { noteUse } from '../limitUse.js'
import { createDocuments, refuse } from '../store/documents.js'
import type { Addition, Change, Engine, Sum } from '../store/engine.js'
import {
  type GasPurpose,
  NO_GAS,
  type ReceiptStore,
  type RelayRecord,
  type StoredRelay,
} from '../store/receipts.js'
import { RelayRefusal } from './authorization.js'

/** Limits of one day's gas (UTC). */
export type GasLimits = Config['relay']['gas']

export interface RemainingGas {
  /** Gas that remains for new orders, refunds, rulebooks and the platform. */
  readonly gasRemaining: bigint
  /** Gas that remains for orders written ahead that need more than their bookings. */
  readonly reserveRemaining: bigint
  /** Booked for orders written ahead and not set aside yet. */
  readonly booked: bigint
}

/**
 * Gas that may be used in one day, by purpose. Records say what they have set aside and used, bookings what orders written ahead still need, and
 * sums add both up. All three change in the transaction that writes the record, so none can disagree with another.
 */
export type GasBudget = ReturnType<typeof createGasBudget>

const DAY_MS = 86_400_000
/**
 * The most that an order's end needs beyond its write-ahead. Both write a portfolio of the same length. The end also moves
 * USDC or makes a claim, which uses 90,000 at most.
 */
const END_EXTRA = 120_000n
/** A deadline is 30 days ahead at most, and a reclaim 7 days later. No order needs an older booking. */
const MAX_BOOKED_DAYS = 40
/** Gas that the chain could not use in a year. The sums have 63 bits. */
export const MOST_GAS = 2n ** 60n

/** Names of the sums, beside the holders of quotas: all gas, and the part of it that is booked and not set aside. */
const ALL = 'all'
const BOOKED = 'booked'

type Quota = 'institution' | 'account'
export type ChangedQuotas = Map<string, { readonly quota: Quota; readonly limit: bigint }>

/** Whose quota a sum counts. */
function quotaOf(id: string): Quota | undefined {
  if (id === ALL || id === BOOKED) return undefined
  return bytes32Schema.safeParse(id).success ? 'institution' : 'account'
}

/** Gas that an order still needs, booked by its write-ahead. Exported for tests. */
export const bookingSchema = z.strictObject({
  account: addressSchema,
  /** Gas kept for the order's end. */
  gas: uint256Schema,
  /** Gas kept for the write that marks the order as never placed, until that is confirmed. */
  mark: uint256Schema,
  /** When it was booked, in days since 1970, and by which digest. */
  day: z.int().min(0),
  by: bytes32Schema,
  /** The gas of it that authorizations have set aside. */
  drawn: z.array(z.strictObject({ by: bytes32Schema, gas: uint256Schema })),
})
export type Booking = z.output<typeof bookingSchema>

/** The part of an order's booking that is not set aside. */
export function restOf(booking: Booking | undefined): bigint {
  if (booking === undefined) return 0n
  const drawn = booking.drawn.reduce((sum, { gas }) => sum + gas, 0n)
  return max(booking.gas + booking.mark - drawn, 0n)
}

export function holderOf(purpose: GasPurpose): Hex | undefined {
  if (purpose.kind === 'platform') return undefined
  return purpose.kind === 'institution' ? purpose.orgId : purpose.account
}

export function createGasBudget(options: {
  /** The writes of the server that holds an account have the term of its lease. */
  readonly engine: Engine
  readonly store: Pick<ReceiptStore, 'toChange'>
  readonly limits: GasLimits
  /** Accounts and institutions whose sums have changed since the last `refresh`, of whichever engine it is. */
  readonly changed?: ChangedQuotas
  /** Milliseconds since 1970. */
  readonly now?: () => number
  readonly logger: Logger
}) {
  const { engine, store, limits, now = Date.now, logger } = options
  const changed: ChangedQuotas = options.changed ?? new Map()
  const bookings = createDocuments({ engine, logger, table: 'bookings', schema: bookingSchema })
  let latest: Pick<RemainingGas, 'booked'> & { readonly all: bigint } = { all: 0n, booked: 0n }

  const today = () => Math.floor(now() / DAY_MS)

  const findBooking = async ({ purpose }: Pick<RelayRecord, 'purpose'>) =>
    'orderId' in purpose ? bookings.find(purpose.orderId) : undefined

  /** The changes that go with a record, and the version of the booking that they are made from, 0 for none. */
  async function planOf(next: RelayRecord, before: RelayRecord | undefined, bookable?: bigint) {
    const isSame = isDeepStrictEqual(countOf(next), before ? countOf(before) : UNCOUNTED)
    if (isSame && bookable === undefined) return { additions: [], changes: [], bookingVersion: 0 }
    const found = await findBooking(next)
    const booking = nextBooking(found?.value, next, today())
    const additions = additionsOf(next, before, { found: found?.value, booking, bookable })
    const changes: Change[] = []
    if ('orderId' in next.purpose && booking !== found?.value) {
      const { orderId: id } = next.purpose
      if (booking !== undefined)
        changes.push(bookings.toPut(id, found?.version ?? 0, { value: booking, isOpen: true }))
      else if (found) changes.push({ kind: 'delete', table: 'bookings', id, version: found.version })
    }
    return { additions, changes, bookingVersion: found?.version ?? 0 }
  }

  function additionsOf(
    next: RelayRecord,
    before: RelayRecord | undefined,
    order: { found: Booking | undefined; booking: Booking | undefined; bookable: bigint | undefined },
  ): Addition[] {
    const { purpose, gas } = next
    const { found, booking, bookable } = order
    const holder = holderOf(purpose)
    const isWrittenAhead = purpose.kind === 'finish' || (purpose.kind === 'hold' && found !== undefined)
    const more = (of: 'setAside' | 'used' | 'excused') => gas[of] - (before?.gas[of] ?? 0n)
    const booked = restOf(booking) - restOf(found)
    const kept = more('setAside') + booked
    const day = today()
    const isMore = gas.setAside > 0n && kept > 0n
    const ofQuota = purpose.kind === 'institution' ? limits.perInstitution : limits.perAccount
    // The first authorization of a day always fits, however long its portfolio or rulebook is.
    const own = (before?.gas.setAside ?? 0n) + (found?.by === next.receipt.digest ? restOf(found) : 0n)
    const ofHolder = {
      used: more('used') - more('excused'),
      kept,
      limit: isMore && !isWrittenAhead ? ofQuota : undefined,
      exempt: own,
    }
    const ofAll = isMore ? limits.perDay - (isWrittenAhead ? 0n : limits.reserve) : undefined
    const others = [
      { id: BOOKED, used: 0n, kept: booked, limit: isWrittenAhead ? undefined : bookable },
      ...(holder === undefined ? [] : [{ id: holder, ...ofHolder }]),
    ].filter(({ used, kept, limit }) => used !== 0n || kept !== 0n || limit !== undefined)
    // The sum of all gas comes first, so that transactions of several servers cannot deadlock.
    return [{ id: ALL, used: more('used'), kept, limit: ofAll }, ...others].map((sum) => ({
      kind: 'add',
      day,
      ...sum,
      limit: sum.limit && min(sum.limit, MOST_GAS),
    }))
  }

  /** @throws RelayRefusal */
  async function assertFit(additions: readonly Addition[]): Promise<void> {
    const sums = new Map((await engine.sums(additions.map(({ id }) => id))).map((sum) => [sum.id, sum]))
    const beyond = additions.filter((each) => !fits(each, sums.get(each.id))).map(({ id }) => id)
    const retryAfterMs = (today() + 1) * DAY_MS - now()
    const quota = beyond.map(quotaOf).find((each) => each !== undefined)
    if (quota !== undefined) throw new RelayRefusal({ code: 'relay-quota-exhausted', quota, retryAfterMs })
    if (beyond.includes(ALL)) throw new RelayRefusal({ code: 'relay-budget-exhausted', retryAfterMs })
    if (beyond.includes(BOOKED)) throw new RelayRefusal({ code: 'relayer-underfunded' })
  }

  return {
    /**
     * Puts a record in the place of `before`, and counts what it sets aside, has used, and books or ends for its order.
     *
     * @param bookable the most gas that may be booked after this write; ignored where the record is of an order written ahead
     * @returns false where another version stands in its place
     * @throws RelayRefusal `relay-quota-exhausted`, `relay-budget-exhausted`, `relayer-underfunded`; StorageError: it may have happened
     */
    async put(next: RelayRecord, before: StoredRelay | undefined, bookable?: bigint): Promise<boolean> {
      const version = before?.version ?? 0
      for (;;) {
        const { additions, changes, bookingVersion } = await planOf(next, before?.record, bookable)
        const record = store.toChange(next, version)
        const result = await engine.transact([...additions, ...changes, record])
        if (result === 'written') {
          for (const { id, limit } of additions) {
            const quota = quotaOf(id)
            if (quota !== undefined && limit !== undefined) changed.set(id, { quota, limit })
          }
          return true
        }
        refuse(result)
        if (result === 'beyond') await assertFit(additions)
        // Additions that fit by now are made anew. A conflict is of the record or of the booking.
        else if (additions.length === 0) return false
        else if (((await findBooking(next))?.version ?? 0) === bookingVersion) return false
      }
    },
    /** Checks whether `put` would find room now. Changes nothing. @throws the same */
    async assertRoom(next: RelayRecord): Promise<void> {
      await assertFit((await planOf(next, undefined)).additions)
    },
    /** Counts the gas of a transaction that belongs to no authorization. */
    spendOther(gas: bigint): void {
      const addition: Addition = { kind: 'add', id: ALL, day: today(), used: gas, kept: 0n }
      engine
        .transact([addition])
        .catch((error: unknown) => logger.warn('gas not counted', describeError(error)))
    },
    /** Ends bookings of orders that must be over. @throws StorageError */
    async endOld(): Promise<void> {
      const old = (await bookings.openEntries()).filter(({ value }) => today() - value.day > MAX_BOOKED_DAYS)
      for (const { id, version, value } of old) {
        const sum = { kind: 'add', day: today(), used: 0n, kept: -restOf(value) } as const
        const additions = [ALL, BOOKED, value.account].map((name) => ({ ...sum, id: name }))
        // A conflict means that another server has ended it.
        await engine.transact([...additions, { kind: 'delete', table: 'bookings', id, version }])
      }
    },
    /** The figures of the last `refresh`. */
    remaining(): RemainingGas {
      const all = max(limits.perDay - latest.all, 0n)
      return {
        gasRemaining: max(all - limits.reserve, 0n),
        reserveRemaining: min(all, limits.reserve),
        booked: latest.booked,
      }
    },
    /** @throws StorageError */
    async refresh(): Promise<void> {
      const holders = [...changed]
      changed.clear()
      const read = await engine.sums([ALL, BOOKED, ...holders.map(([id]) => id)])
      const sums = new Map(read.map((sum) => [sum.id, sum]))
      for (const [id, { quota, limit }] of holders)
        noteUse(`${quota}-gas`, Number(totalOf(sums.get(id), today())) / Number(limit))
      const [all, booked] = [sums.get(ALL), sums.get(BOOKED)]
      latest = { all: totalOf(all, today()), booked: booked?.kept ?? 0n }
    },
  }
}

/** The fields that the sums and the booking depend on. */
function countOf({ gas, receipt }: RelayRecord) {
  return { gas, end: isFinal(receipt) ? receipt.status : null }
}

const UNCOUNTED = { gas: NO_GAS, end: null }

/** @returns the very same booking where nothing changes */
function nextBooking(found: Booking | undefined, next: RelayRecord, day: number): Booking | undefined {
  const { purpose, gas, receipt } = next
  const { digest, status } = receipt
  if (!('orderId' in purpose)) return found
  const drawnByOthers = found?.drawn.filter(({ by }) => by !== digest) ?? []
  if (gas.setAside > 0n) {
    const drawn = [...drawnByOthers, { by: digest, gas: gas.setAside }]
    if (purpose.kind === 'finish' || (found !== undefined && found.by !== digest))
      return found && { ...found, drawn }
    const { account } = purpose
    return {
      account,
      gas: gas.setAside + END_EXTRA,
      mark: gas.setAside,
      day,
      by: digest,
      drawn: drawnByOthers,
    }
  }
  if (found === undefined) return undefined
  const freed = drawnByOthers.length === found.drawn.length ? found : { ...found, drawn: drawnByOthers }
  if (status === 'failed') {
    if (purpose.kind !== 'hold' || found.by !== digest) return freed
    // Another write may have written the order ahead, and not be recorded as confirmed yet.
    const [heir] = drawnByOthers
    return heir && { ...freed, by: heir.by }
  }
  if (status !== 'confirmed') return freed
  if (purpose.kind === 'finish') return undefined
  // A further write of an order written ahead has used what was booked for one. The booking is its own from now on: the write that made it may
  // have failed, where an enclave that restarted has sealed another one.
  return found.by === digest ? freed : { ...freed, mark: 0n, by: digest }
}

function totalOf(sum: Sum | undefined, day: number): bigint {
  if (sum === undefined) return 0n
  return sum.kept + (sum.day === day || sum.day === day + 1 ? sum.used : 0n)
}

function fits({ used, kept, day, limit, exempt = -1n }: Addition, sum: Sum | undefined): boolean {
  const total = totalOf(sum, day)
  return limit === undefined || total <= exempt || total + used + kept <= limit
}
