import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Hex } from '../../protocol/hex.js'
import { createKeyedLock } from '../../service/keyedLock.js'
import type { Service } from '../../service/lifetime.js'
import { describeError, type Logger } from '../../service/logger.js'
import { createDocuments } from '../store/documents.js'
import type { Engine } from '../store/engine.js'
import type { GasPurpose } from '../store/receipts.js'
import { RelayRefusal } from './authorization.js'
import { gasVersionSchema, holderOf } from './gasCount.js'
import { createGasLedger, type NextGas } from './gasLedger.js'

/** Limits of one day's gas (UTC). */
export interface GasLimits {
  readonly perDay: bigint
  /** The part of it that only held orders may use. */
  readonly reserve: bigint
  /** For one account's orders. */
  readonly perAccount: bigint
  /** For one institution's rulebooks. */
  readonly perInstitution: bigint
}

/** The rest of today's gas. */
export interface GasLeft {
  /** For new orders, refunds, rulebooks and the platform. */
  readonly gasLeft: bigint
  /** For held orders that need more than their bookings. */
  readonly reserveLeft: bigint
  /** Booked for held orders and not set aside yet. */
  readonly booked: bigint
}

/**
 * Gas that may be used in one day, by purpose. A write-ahead reserves gas for the whole order. Its settlement or refund
 * draws on that, then on the reserve.
 */
export interface GasBudget {
  /**
   * Sets gas aside for an authorization, in place of an earlier reservation. Durable when it resolves.
   * @throws RelayRefusal `relay-quota-exhausted`, `relay-budget-exhausted`; StorageError
   */
  reserve(digest: Hex, purpose: GasPurpose, gas: bigint): Promise<void>
  /** Checks whether {@link GasBudget.reserve} would succeed now. Changes nothing. @throws the same */
  assertRoom(digest: Hex, purpose: GasPurpose, gas: bigint): Promise<void>
  /**
   * Gas that the account must still be able to pay for held orders once it takes the authorization on. Null when the
   * authorization itself belongs to a held order.
   */
  keptForHeld(purpose: GasPurpose, gas: bigint): bigint | null
  /**
   * One of its transactions was mined and used `gas`. The rest of its reservation is free.
   * @returns a function that takes the gas off the quota, and leaves it on the budget, on the same day
   */
  spend(digest: Hex, gas: bigint): () => void
  /** Counts its limit as used until midnight, because the transaction may still be mined. */
  lose(digest: Hex): void
  /**
   * This server sends nothing more for it. The booking for its order stays until the order has ended. Durable when it resolves: a record
   * that is stored as confirmed only after that leaves no booking behind, whenever its server is killed.
   * @throws StorageError: call it again
   */
  end(digest: Hex, purpose: GasPurpose, isConfirmed: boolean): Promise<void>
  /**
   * Ends bookings whose write-ahead no server relays any more: a server was killed before it stored a record, or before it stored the
   * end of the booking. A booking is ended by the second call in a row that finds it so, because its record may be on its way.
   * @throws StorageError
   */
  endOrphans(stateOf: (digest: Hex) => Promise<'open' | 'over'>): Promise<void>
  /** This server sent nothing for it, and another server may relay it. The booking for its order stays. */
  release(digest: Hex): void
  /** Counts the gas of a transaction that belongs to no authorization. */
  spendOther(gas: bigint): void
  /** As of the newest version that this server knows. */
  left(): GasLeft
  /** Reads the other servers' changes. @throws StorageError */
  refresh(): Promise<void>
  /** Its start reads the gas used today and the bookings for held orders. */
  readonly service: Service
}

interface GasBudgetOptions {
  readonly engine: Engine
  readonly limits: GasLimits
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly logger: Logger
}

/**
 * Version n of the count lies in row n modulo this, in the place of version n - ROWS. The first row of each round has the
 * count in full, and every other one only a change. So a write does not grow with the accounts of the day.
 */
const ROWS = 256
const rowOf = (version: number) => `relay-gas:${version % ROWS}`
const roundOf = (version: number) => Math.floor(version / ROWS)
const LOCK = 'relay-gas'
const DAY_MS = 86_400_000
const NOT_DECIDED = () => undefined

/** Exported for tests, which read the count as it is stored. */
export const gasRowSchema = z.strictObject({
  /** The process that wrote the version. */
  by: z.uuid(),
  version: gasVersionSchema,
})

/** A reservation that waits to be stored. */
interface Request extends Decided {
  readonly digest: Hex
  readonly purpose: GasPurpose
  readonly gas: bigint
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

interface Decided {
  /** Undoes the reservation, or is the reason why there is none. */
  decision: (() => void) | RelayRefusal
  /** How many of the other servers' versions the ledger had read by then. */
  decidedBy: number
}

/**
 * One count for all servers. Each changes it by compare-and-set: a server that finds another version in the place of its own
 * decides its requests again. So the servers never exceed the day's limit or a quota together, and need no lease. Each server
 * has at most one write under way, which carries all requests of that time. The stored count runs ahead of the gas used by at
 * most a thousandth of the budget or a tenth of a quota. So gas on no quota rarely needs a write, and the stored count always
 * covers the gas that a killed process used.
 */
export function createGasBudget(options: GasBudgetOptions): GasBudget {
  const { engine, limits, logger } = options
  const documents = createDocuments({ engine, logger, table: 'state', schema: gasRowSchema })
  const ahead = min(limits.perDay / 1_000n, limits.perAccount / 10n)
  const ledger = createGasLedger(options.now)
  const lock = createKeyedLock()
  let waiting: Request[] = []
  /** Resolved once the changes of the ledger are stored. */
  let saving: PromiseWithResolvers<void>[] = []
  let gathering: Promise<void> | undefined
  let isToBeSaved = false
  let isStopping = false
  /** The next version of the shared count: the ledger knows all below it. */
  let next = 0
  let versionsRead = 0
  /** Versions, by their ids, whose writes failed but may take effect all the same, even after the next read. */
  const doubtful = new Map<string, NextGas>()
  /** Digests whose bookings had no authorization under way when {@link GasBudget.endOrphans} last looked. */
  let orphans = new Set<Hex>()

  /** Takes over all newer versions. @returns whether other servers wrote any */
  async function read(): Promise<boolean> {
    const before = versionsRead
    for (;;) {
      const round = roundOf(next) + 1
      const row = await documents.getUnless((found) => found.version < round, rowOf(next))
      if (row === undefined || row === 'known') break
      if (row.version > round) {
        // The other servers have overwritten it. If the doubtful write happened, its gas counts as theirs until midnight.
        doubtful.clear()
        next = ROWS * (await newestRound())
        continue
      }
      next++
      const own = doubtful.get(row.value.by)
      doubtful.clear()
      if (own !== undefined) {
        own.written()
        continue
      }
      versionsRead++
      ledger.merge(row.value.version)
    }
    return versionsRead > before
  }

  async function newestRound(): Promise<number> {
    const first = await documents.find(rowOf(0))
    return first === undefined ? 0 : first.version - 1
  }

  /** @returns false where another server came first */
  async function write(margin: bigint): Promise<boolean> {
    if (doubtful.size > 0 && (await read())) return false
    const version = next
    const own = ledger.next(margin, version % ROWS === 0)
    const by = randomUUID()
    doubtful.set(by, own)
    const value = { by, version: own.value }
    const isWritten = await documents.replace(rowOf(version), roundOf(version), { value, isOpen: false })
    if (!isWritten) {
      doubtful.delete(by)
      return false
    }
    doubtful.clear()
    next = version + 1
    own.written()
    return true
  }

  /** At most the gas that is left, so that one server's margin never takes the others beyond the limit. */
  function margin(): bigint {
    if (!ledger.isSettingAside() || isStopping) return 0n
    return min(ahead, max(limits.perDay - limits.reserve - ledger.total(), 0n))
  }

  function undo(requests: readonly Request[]): void {
    for (const request of requests.toReversed()) {
      if (typeof request.decision === 'function') request.decision()
      request.decision = NOT_DECIDED
    }
  }

  /** Repeats decisions that were made before the ledger read the newest version. */
  function decideAnew(requests: readonly Request[]): void {
    const outdated = requests.filter(({ decidedBy }) => decidedBy !== versionsRead)
    undo(outdated)
    for (const request of outdated) Object.assign(request, decide(request))
  }

  /** Stores the reservations that the newest version allows. */
  async function storeReservations(requests: readonly Request[]): Promise<void> {
    const mustSave = isToBeSaved
    isToBeSaved = false
    const saves = saving
    saving = []
    const isAdmitted = ({ decision }: Request) => typeof decision === 'function'
    try {
      decideAnew(requests)
      // The newest version may allow what an older one refused.
      while (!(mustSave || requests.some(isAdmitted) ? await write(margin()) : !(await read()))) {
        await read()
        decideAnew(requests)
      }
    } catch (error) {
      undo(requests)
      for (const { reject } of [...requests, ...saves]) reject(error)
      if (requests.length + saves.length === 0) logger.warn('gas count not written', describeError(error))
      return
    }
    for (const { resolve } of saves) resolve()
    for (const { decision, resolve, reject } of requests) {
      if (typeof decision === 'function') resolve()
      else reject(decision)
    }
  }

  /** One write at a time. Each carries the requests that came while the one before was under way. */
  function storeWaiting(): Promise<void> {
    gathering ??= lock.run(LOCK, async () => {
      // Requests of one turn of the event loop share a write.
      await new Promise(setImmediate)
      gathering = undefined
      const requests = waiting
      waiting = []
      if (requests.length > 0 || isToBeSaved) await storeReservations(requests)
    })
    return gathering
  }

  function saveSoon(): void {
    isToBeSaved = true
    void storeWaiting()
  }

  /** @throws StorageError */
  function save(): Promise<void> {
    const saved = Promise.withResolvers<void>()
    saving.push(saved)
    saveSoon()
    return saved.promise
  }

  async function refresh(): Promise<void> {
    if (engine.isShared) await lock.run(LOCK, read)
  }

  function decide({ digest, purpose, gas }: Pick<Request, 'digest' | 'purpose' | 'gas'>): Decided {
    const decidedBy = versionsRead
    try {
      checkRoom(digest, purpose, gas)
      return { decidedBy, decision: ledger.put(digest, purpose, gas) }
    } catch (error) {
      if (error instanceof RelayRefusal) return { decidedBy, decision: error }
      throw error
    }
  }

  /** Changes nothing. @throws RelayRefusal */
  function checkRoom(digest: Hex, purpose: GasPurpose, gas: bigint): void {
    const { total, ofHolder, ofOthers } = ledger.after(digest, purpose, gas)
    if (ledger.isOfHeld(purpose)) {
      if (total > ledger.total() && total > limits.perDay) throw exhausted()
      return
    }
    const isInstitution = purpose.kind === 'institution'
    const limit = isInstitution ? limits.perInstitution : limits.perAccount
    // The first authorization of a day always fits, however long its portfolio or rulebook is.
    if (holderOf(purpose) !== undefined && ofOthers > 0n && ofHolder > limit) {
      const quota = isInstitution ? 'institution' : 'account'
      throw new RelayRefusal({ code: 'relay-quota-exhausted', quota, retryAfterMs: restOfDayMs() })
    }
    if (total > limits.perDay - limits.reserve) throw exhausted()
  }

  const restOfDayMs = () => (ledger.day() + 1) * DAY_MS - options.now()
  const exhausted = () => new RelayRefusal({ code: 'relay-budget-exhausted', retryAfterMs: restOfDayMs() })

  return {
    async reserve(digest, purpose, gas) {
      const isStoredAhead = holderOf(purpose) === undefined && ledger.isCovered(gas)
      // Decided without an await, so that the next decision counts it.
      const decided = decide({ digest, purpose, gas })
      if (isStoredAhead && typeof decided.decision === 'function') return
      await new Promise<void>((resolve, reject) => {
        waiting.push({ digest, purpose, gas, ...decided, resolve, reject })
        void storeWaiting()
      })
    },
    async assertRoom(digest, purpose, gas) {
      await lock.run(LOCK, read)
      checkRoom(digest, purpose, gas)
    },
    keptForHeld: (purpose, gas) => (ledger.isOfHeld(purpose) ? null : ledger.booked({ purpose, gas })),
    spend: ledger.spend,
    lose: ledger.lose,
    async end(digest, purpose, isConfirmed) {
      // At once: what it had set aside is free even if the next read fails.
      ledger.release(digest)
      // Another server may have made or changed the booking of the order.
      if ('orderId' in purpose) await refresh()
      if (ledger.end(digest, purpose, isConfirmed)) await save()
      // The other servers would otherwise miss free gas.
      else if (engine.isShared && !ledger.isSettingAside()) saveSoon()
    },
    async endOrphans(stateOf) {
      await refresh()
      const states = await Promise.all(
        ledger.bookings().map(async ({ by }) => ({ by, state: await stateOf(by) })),
      )
      const over = states.flatMap(({ by, state }) => (state === 'over' ? by : []))
      const twice = over.filter((by) => orphans.has(by))
      orphans = new Set(over)
      if (ledger.endBookingsOf(twice)) await save()
    },
    release(digest) {
      if (ledger.release(digest) && engine.isShared && !ledger.isSettingAside()) saveSoon()
    },
    spendOther(gas) {
      ledger.spendOther(gas)
      if (engine.isShared) saveSoon()
    },
    left() {
      const left = max(limits.perDay - ledger.total(), 0n)
      return {
        gasLeft: max(left - limits.reserve, 0n),
        reserveLeft: min(left, limits.reserve),
        booked: ledger.booked(),
      }
    },
    refresh,
    service: {
      name: 'relay-gas-budget',
      async start() {
        await lock.run(LOCK, read)
      },
      // The next process resumes what is under way without setting its gas aside again.
      async stop() {
        isStopping = true
        if (next === 0 && ledger.isUnused()) return
        isToBeSaved = true
        await storeWaiting()
      },
    },
  }
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
