import { z } from 'zod'
import type { Hex } from '../../protocol/hex.js'
import { uint256Schema } from '../../protocol/units.js'
import { createKeyedLock } from '../async/keyedLock.js'
import { Problem } from '../http/problems.js'
import type { Service } from '../lifetime.js'
import type { Logger } from '../logger.js'
import type { AtomicFiles } from '../store/atomicFiles.js'
import { createJsonFile } from '../store/jsonFile.js'
import type { CorrectGas } from './flight.js'

/** Gas that may be used in one day (UTC), what is under way included. */
export interface GasBudget {
  /**
   * Sets gas aside for an authorization, in place of what it had, and makes it durable that it may be used.
   * @throws Problem `relay-budget-exhausted` until the day is over; StorageError
   */
  reserve(digest: Hex, gas: bigint): Promise<void>
  /** One of its transactions was mined, and has used so much of what was set aside. The rest is free. */
  spend(digest: Hex, gas: bigint): void
  /** What was set aside for it counts as used: it may be. @returns puts what was used in its place, on the same day */
  lose(digest: Hex): CorrectGas
  /** What is set aside for it is not needed. */
  release(digest: Hex): void
  /** Gas of a transaction that belongs to no authorization. */
  spendOther(gas: bigint): void
  /** What is left of today's. */
  left(): bigint
  /** Reads at its start what an earlier process used today. */
  readonly service: Service
}

export interface GasBudgetOptions {
  readonly files: AtomicFiles
  readonly gasPerDay: bigint
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly logger: Logger
}

const FILE = 'relay-gas.json'
const DAY_MS = 86_400_000
const storedSchema = z.strictObject({ day: z.int().min(0), gas: uint256Schema })

/**
 * The file says more than is used, by a thousandth of the budget at most: it is written ahead once for many
 * authorizations rather than with each of them, and a process that is killed has never used more than it says.
 */
export function createGasBudget(options: GasBudgetOptions): GasBudget {
  const { files, gasPerDay, logger } = options
  const file = createJsonFile({ files, logger, path: FILE, schema: storedSchema })
  const ahead = gasPerDay / 1_000n
  const lock = createKeyedLock()
  const reserved = new Map<Hex, bigint>()
  const today = () => Math.floor(options.now() / DAY_MS)
  let day = today()
  let spent = 0n
  /** What the file says. */
  let durable = 0n

  function used(): bigint {
    if (today() !== day) {
      day = today()
      spent = 0n
      durable = 0n
    }
    return [...reserved.values()].reduce((sum, gas) => sum + gas, spent)
  }

  function add(gas: bigint): void {
    used()
    spent += gas
  }

  /** Writes unless the file covers what is used. */
  async function cover(margin: bigint): Promise<void> {
    await lock.run(FILE, async () => {
      if (margin > 0n ? used() <= durable : used() === durable) return
      const gas = used() + margin
      await file.save({ day, gas })
      durable = gas
    })
  }

  return {
    async reserve(digest, gas) {
      const others = used() - (reserved.get(digest) ?? 0n)
      if (others + gas > gasPerDay) throw exhausted((day + 1) * DAY_MS - options.now())
      reserved.set(digest, gas)
      try {
        await cover(ahead)
      } catch (error) {
        reserved.delete(digest)
        throw error
      }
    },
    spend(digest, gas) {
      reserved.delete(digest)
      add(gas)
    },
    lose(digest) {
      const limit = reserved.get(digest) ?? 0n
      reserved.delete(digest)
      add(limit)
      const lostOn = day
      return (gas) => {
        used()
        if (day === lostOn && gas < limit) spent += gas - limit
      }
    },
    release(digest) {
      reserved.delete(digest)
    },
    spendOther: add,
    left() {
      const left = gasPerDay - used()
      return left > 0n ? left : 0n
    },
    service: {
      name: 'relay-gas-budget',
      async start() {
        const stored = await file.load()
        if (stored?.day !== today()) return
        spent = stored.gas
        durable = stored.gas
      },
      // What is still under way is taken up by the next process, which does not set it aside again.
      stop: () => cover(0n),
    },
  }
}

function exhausted(restMs: number): Problem {
  return new Problem('relay-budget-exhausted', {
    headers: { 'Retry-After': String(Math.ceil(restMs / 1_000)) },
  })
}
