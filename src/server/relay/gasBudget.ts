import { isDeepStrictEqual } from 'node:util'
import type { Quota } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import { createKeyedLock } from '../../service/keyedLock.js'
import { describeError, type Logger } from '../../service/logger.js'
import type { ProblemCode } from '../http/problemCodes.js'
import { Problem } from '../http/problems.js'
import type { Service } from '../lifetime.js'
import { createDocuments } from '../store/documents.js'
import type { Engine } from '../store/engine.js'
import type { GasPurpose } from '../store/receipts.js'
import type { CorrectGas } from '../txManager/pendingTx.js'
import { createGasLedger, holderOf, type NextGas, storedGasSchema } from './gasLedger.js'

/** How much gas may be used in one day (UTC). */
export interface GasLimits {
  readonly perDay: bigint
  /** The part reserved for completing held orders. */
  readonly reserve: bigint
  /** Of one account's orders. */
  readonly perAccount: bigint
  /** Of one institution's rulebooks. */
  readonly perInstitution: bigint
}

/** What is left of today's gas. */
export interface GasLeft {
  /** For what is new. */
  readonly gasLeft: bigint
  /** For held orders that need more than was booked for them. */
  readonly reserveLeft: bigint
  /** Booked for held orders, and not set aside yet. */
  readonly booked: bigint
}

/**
 * Gas that may be used in one day, by purpose. A write-ahead reserves gas for the whole order. Its settlement or refund
 * draws on that, then on the reserve.
 */
export interface GasBudget {
  /**
   * Sets gas aside for an authorization, in place of what it had, and makes it durable that it may be used.
   * @throws Problem `relay-quota-exhausted`, `relay-budget-exhausted` until the day is over; StorageError
   */
  reserve(digest: Hex, purpose: GasPurpose, gas: bigint): Promise<void>
  /** Whether {@link GasBudget.reserve} would set so much aside now. @throws the same */
  assertRoom(digest: Hex, purpose: GasPurpose, gas: bigint): Promise<void>
  /**
   * Gas that held orders must still be able to pay for once the authorization is taken on. Null when it takes a held
   * order further itself.
   */
  keptForHeld(purpose: GasPurpose, gas: bigint): bigint | null
  /** One of its transactions was mined, and has used so much of what was set aside. The rest is free. */
  spend(digest: Hex, gas: bigint): void
  /**
   * Its limit counts as used, because the transaction may still be mined.
   * @returns replaces the limit by the gas used, on the same day
   */
  lose(digest: Hex): CorrectGas
  /** Nothing more will be sent for it. What is booked for its order stays until the order has ended. */
  end(digest: Hex, purpose: GasPurpose, isConfirmed: boolean): void
  /** Nothing of it was sent here, and another server may relay it: what is booked for its order stays. */
  release(digest: Hex): void
  /** Gas of a transaction that belongs to no authorization. */
  spendOther(gas: bigint): void
  /** By the shared count as this server knows it. */
  left(): GasLeft
  /** Reads the shared count, which other servers may have changed. @throws StorageError */
  refresh(): Promise<void>
  /** Reads at its start what an earlier process used today, and what held orders still need. */
  readonly service: Service
}

export interface GasBudgetOptions {
  readonly engine: Engine
  readonly limits: GasLimits
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly logger: Logger
}

const DOCUMENT = 'relay-gas'
const DAY_MS = 86_400_000
const NOT_DECIDED = () => undefined

/** An authorization that waits until it is stored that its gas is set aside. */
interface Request extends Decided {
  readonly digest: Hex
  readonly purpose: GasPurpose
  readonly gas: bigint
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

interface Decided {
  /** Takes back what was set aside; or says why nothing was. */
  decision: (() => void) | Problem
  /** How many versions of other servers the ledger had read by then. */
  decidedBy: number
}

/**
 * One count for all servers, which each changes by compare-and-set: a request that another server's write has overtaken is
 * decided again. So neither the day's limit nor a quota is ever exceeded, and no lease is needed. A server has one write under
 * way at most, which carries all requests of that time. The stored count runs ahead of the gas used by at most a thousandth of
 * the budget or a tenth of a quota, so gas on no quota rarely needs a write, and a killed process has never used more than is
 * stored.
 */
export function createGasBudget(options: GasBudgetOptions): GasBudget {
  const { engine, limits, logger } = options
  const documents = createDocuments({ engine, logger, table: 'state', schema: storedGasSchema })
  const ahead = least(limits.perDay / 1_000n, limits.perAccount / 10n)
  const ledger = createGasLedger(options.now)
  const lock = createKeyedLock()
  let waiting: Request[] = []
  let gathering: Promise<void> | undefined
  let isToBeSaved = false
  let isStopping = false
  /** The version of the shared count that the ledger knows, 0 for none. */
  let version = 0
  let versionsRead = 0
  /** A write that failed, and may have happened all the same. */
  let doubtful: NextGas | undefined

  /** Takes over the newest version. @returns whether the ledger did not know it */
  async function read(): Promise<boolean> {
    const stored = await documents.getUnless((row) => row.version === version, DOCUMENT)
    if (stored === 'known' || stored === undefined) {
      doubtful = undefined
      return false
    }
    // The count would otherwise take this server's own gas for another's.
    if (doubtful !== undefined && isDeepStrictEqual(stored.value, doubtful.value)) doubtful.written()
    doubtful = undefined
    version = stored.version
    versionsRead++
    ledger.merge(stored.value)
    return true
  }

  /** @returns false where another server came first */
  async function write(margin: bigint): Promise<boolean> {
    if (doubtful !== undefined && (await read())) return false
    const [before, next] = [version, ledger.next(margin)]
    doubtful = next
    const isWritten = await documents.replace(DOCUMENT, before, { value: next.value, isOpen: true })
    doubtful = undefined
    if (!isWritten) return false
    version = before + 1
    next.written()
    return true
  }

  /** No more than is left, so that one server's margin never takes the others beyond the limit. */
  function margin(): bigint {
    if (!ledger.isSettingAside() || isStopping) return 0n
    return least(ahead, most(limits.perDay - limits.reserve - ledger.total(), 0n))
  }

  function undo(requests: readonly Request[]): void {
    for (const request of requests.toReversed()) {
      if (typeof request.decision === 'function') request.decision()
      request.decision = NOT_DECIDED
    }
  }

  /** Decides again what was decided by a version that the ledger has replaced since. */
  function decideAnew(requests: readonly Request[]): void {
    const outdated = requests.filter(({ decidedBy }) => decidedBy !== versionsRead)
    undo(outdated)
    for (const request of outdated) Object.assign(request, decide(request))
  }

  /** Stores what is set aside for the requests, as the version allows it that is replaced by the write. */
  async function settle(requests: readonly Request[]): Promise<void> {
    const mustSave = isToBeSaved
    isToBeSaved = false
    const isAdmitted = ({ decision }: Request) => typeof decision === 'function'
    try {
      decideAnew(requests)
      // A refusal by an old version may be none by the newest.
      while (!(mustSave || requests.some(isAdmitted) ? await write(margin()) : !(await read()))) {
        await read()
        decideAnew(requests)
      }
    } catch (error) {
      undo(requests)
      for (const { reject } of requests) reject(error)
      if (requests.length === 0) logger.warn('gas count not written', describeError(error))
      return
    }
    for (const { decision, resolve, reject } of requests) {
      if (typeof decision === 'function') resolve()
      else reject(decision)
    }
  }

  /** One write at a time. Each carries the requests that came while the one before was under way. */
  function settleAll(): Promise<void> {
    gathering ??= lock.run(DOCUMENT, async () => {
      // Requests of one turn of the event loop share a write.
      await new Promise(setImmediate)
      gathering = undefined
      const requests = waiting
      waiting = []
      if (requests.length > 0 || isToBeSaved) await settle(requests)
    })
    return gathering
  }

  function saveSoon(): void {
    isToBeSaved = true
    void settleAll()
  }

  function decide({ digest, purpose, gas }: Pick<Request, 'digest' | 'purpose' | 'gas'>): Decided {
    const decidedBy = versionsRead
    try {
      return { decidedBy, decision: setAside(digest, purpose, gas) }
    } catch (error) {
      if (error instanceof Problem) return { decidedBy, decision: error }
      throw error
    }
  }

  /** @param ofOthers what counts on the same quota beside this authorization */
  function assertRoom(purpose: GasPurpose, ofOthers: bigint): void {
    const holder = holderOf(purpose)
    const isInstitution = purpose.kind === 'institution'
    const quota = isInstitution ? limits.perInstitution : limits.perAccount
    // The first of a day always fits, however long its portfolio or rulebook is.
    if (holder !== undefined && ofOthers > 0n && ledger.totalOf(holder) > quota) {
      throw refusal('relay-quota-exhausted', { quota: isInstitution ? 'institution' : 'account' })
    }
    if (ledger.total() > limits.perDay - limits.reserve) throw refusal('relay-budget-exhausted')
  }

  function refusal(code: ProblemCode, extensions: { quota?: Quota } = {}): Problem {
    const restMs = (ledger.day() + 1) * DAY_MS - options.now()
    return new Problem(code, {
      headers: { 'Retry-After': String(Math.ceil(restMs / 1_000)) },
      extensions,
    })
  }

  /** @returns takes it back */
  function setAside(digest: Hex, purpose: GasPurpose, gas: bigint): () => void {
    const isOfHeld = ledger.isOfHeld(purpose)
    const before = ledger.total()
    const restore = ledger.take(digest, purpose)
    const holder = holderOf(purpose)
    const ofOthers = holder === undefined ? 0n : ledger.totalOf(holder)
    ledger.put(digest, purpose, gas)
    try {
      if (!isOfHeld) assertRoom(purpose, ofOthers)
      else if (ledger.total() > before && ledger.total() > limits.perDay)
        throw refusal('relay-budget-exhausted')
    } catch (error) {
      restore()
      throw error
    }
    return restore
  }

  return {
    async reserve(digest, purpose, gas) {
      const isStoredAhead = holderOf(purpose) === undefined && ledger.isCovered(gas)
      // At once, so that the next one counts it.
      const decided = decide({ digest, purpose, gas })
      if (isStoredAhead && typeof decided.decision === 'function') return
      await new Promise<void>((resolve, reject) => {
        waiting.push({ digest, purpose, gas, ...decided, resolve, reject })
        void settleAll()
      })
    },
    async assertRoom(digest, purpose, gas) {
      await lock.run(DOCUMENT, read)
      setAside(digest, purpose, gas)()
    },
    keptForHeld: (purpose, gas) => (ledger.isOfHeld(purpose) ? null : ledger.booked({ purpose, gas })),
    spend: ledger.spend,
    lose: ledger.lose,
    end(digest, purpose, isConfirmed) {
      const hasBookings = ledger.end(digest, purpose, isConfirmed)
      // A process that is killed would remember bookings of orders that have ended. Other servers would miss gas that is free.
      if (hasBookings || (engine.isShared && !ledger.isSettingAside())) saveSoon()
    },
    release(digest) {
      if (ledger.release(digest) && engine.isShared && !ledger.isSettingAside()) saveSoon()
    },
    spendOther(gas) {
      ledger.spendOther(gas)
      if (engine.isShared) saveSoon()
    },
    left() {
      const left = most(limits.perDay - ledger.total(), 0n)
      return {
        gasLeft: most(left - limits.reserve, 0n),
        reserveLeft: least(left, limits.reserve),
        booked: ledger.booked(),
      }
    },
    async refresh() {
      if (engine.isShared) await lock.run(DOCUMENT, read)
    },
    service: {
      name: 'relay-gas-budget',
      async start() {
        await lock.run(DOCUMENT, read)
      },
      // What is still under way is taken up by the next process, which does not set it aside again.
      async stop() {
        isStopping = true
        if (version === 0 && ledger.isUnused()) return
        isToBeSaved = true
        await settleAll()
      },
    },
  }
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

function most(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
