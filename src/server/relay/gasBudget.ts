import type { Quota } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import { createKeyedLock } from '../../service/keyedLock.js'
import { describeError, type Logger } from '../../service/logger.js'
import type { ProblemCode } from '../http/problemCodes.js'
import { Problem } from '../http/problems.js'
import type { Service } from '../lifetime.js'
import { createStateDocument } from '../store/documents.js'
import type { Engine, Fence } from '../store/engine.js'
import type { GasPurpose } from '../store/receipts.js'
import type { CorrectGas } from '../txManager/pendingTx.js'
import { createGasLedger, holderOf, storedGasSchema } from './gasLedger.js'

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
  /** Gas of a transaction that belongs to no authorization. */
  spendOther(gas: bigint): void
  left(): GasLeft
  /** Reads at its start what an earlier process used today, and what held orders still need. */
  readonly service: Service
}

export interface GasBudgetOptions {
  readonly engine: Engine
  /** The current term of the lease on the relayer's account. */
  readonly fence: Fence
  readonly limits: GasLimits
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly logger: Logger
}

const DOCUMENT = 'relay-gas'
const DAY_MS = 86_400_000
const NOTHING_WRITTEN = { day: -1, gas: 0n }

/**
 * The stored count runs ahead of the gas used, by at most a thousandth of the budget or a tenth of a quota. So one write covers
 * many authorizations, and a killed process has never used more than is stored.
 */
export function createGasBudget(options: GasBudgetOptions): GasBudget {
  const { engine, fence, limits, logger } = options
  const document = createStateDocument({ engine, fence, logger, id: DOCUMENT, schema: storedGasSchema })
  const ahead = least(limits.perDay / 1_000n, limits.perAccount / 10n)
  const lock = createKeyedLock()
  const ledger = createGasLedger(options.now)
  /** The count that is stored. */
  let durable = NOTHING_WRITTEN
  let isToBeSaved = false

  async function save(margin: bigint): Promise<void> {
    const stored = ledger.store()
    const next = { ...stored, gas: stored.gas + margin }
    await document.save(next)
    durable = next
  }

  /** Writes unless the stored count covers the gas used. */
  async function cover(): Promise<void> {
    await lock.run(DOCUMENT, async () => {
      const isCovered = ledger.committed() + ledger.unstored() <= durable.gas
      if (durable.day !== ledger.day() || !isCovered) await save(ahead)
    })
  }

  /** In the background, once for many: a process that is killed would remember the bookings of orders that have ended. */
  function saveSoon(): void {
    if (isToBeSaved) return
    isToBeSaved = true
    lock
      .run(DOCUMENT, async () => {
        isToBeSaved = false
        await save(ahead)
      })
      .catch((error: unknown) => logger.warn('end of a booking not written', describeError(error)))
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
      const restore = setAside(digest, purpose, gas)
      try {
        await cover()
      } catch (error) {
        restore()
        throw error
      }
    },
    keptForHeld: (purpose, gas) => (ledger.isOfHeld(purpose) ? null : ledger.booked({ purpose, gas })),
    spend: ledger.spend,
    lose: ledger.lose,
    end(digest, purpose, isConfirmed) {
      if (ledger.end(digest, purpose, isConfirmed)) saveSoon()
    },
    spendOther: ledger.spendOther,
    left() {
      const left = most(limits.perDay - ledger.total(), 0n)
      return {
        gasLeft: most(left - limits.reserve, 0n),
        reserveLeft: least(left, limits.reserve),
        booked: ledger.booked(),
      }
    },
    service: {
      name: 'relay-gas-budget',
      async start() {
        const stored = await document.load()
        if (stored === undefined) return
        ledger.load(stored)
        durable = stored
      },
      // What is still under way is taken up by the next process, which does not set it aside again.
      stop: () =>
        lock.run(DOCUMENT, async () => {
          const isUnused =
            durable === NOTHING_WRITTEN && ledger.committed() === 0n && ledger.unstored() === 0n
          if (!isUnused) await save(0n)
        }),
    },
  }
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

function most(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
