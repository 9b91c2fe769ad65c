import { setTimeout as sleep } from 'node:timers/promises'
import type { Receipt } from '../../../src/protocol/api.js'
import { storedRecord } from '../../server/relay/relayUnderTest.js'
import type { TestChain } from '../../support/chain.js'
import type { Uptime } from '../engine/serverProcess.js'
import type { Moments } from '../engine/storm.js'
import { type Client, hasEnded, note, type Told } from './callers.js'
import type { Work } from './workload.js'

/**
 * The longest that nothing may end while a server is up, and the longest that all of it may take after the last fault.
 * The relay's waits, one after the other, add up to 21 s.
 * - 1 s: a request's time-out
 * - 2 s: a head that trails
 * - 5 s: a look at settled relays
 * - 5 s: a used nonce without its receipt
 * - 3 s: a gap
 * - 4 s: two resubmissions
 * - 1 s: the pause after a failed step
 *
 * The rest is for a machine that others use. A nonce that is stuck stays so for longer.
 */
export const STALL_BOUND_MS = 60_000

const PAUSE_MS = 200
const PATIENCE_MS = 10_000
const NOT_FOUND = 404

export interface SettleOptions {
  readonly chain: TestChain
  readonly client: Client
  readonly told: ReadonlyMap<Work, Told>
  readonly dataDir: string
}

/**
 * Follows every authorization to its end in calm, by asking alone. Posts again only those that no server ever accepted, and
 * those that a reorganization took back after their end, while no server was up.
 */
export async function settle({ chain, client, told, dataDir }: SettleOptions) {
  const giveUpAt = performance.now() + STALL_BOUND_MS
  const violations: string[] = []
  let takenBack = 0

  async function follow(work: Work, heard: Told): Promise<void> {
    while (performance.now() < giveUpAt) {
      const response = await client.get(work)
      note(heard, response)
      if (hasEnded(response)) return
      if (response?.status === NOT_FOUND) {
        if (work.plan.kind === 'rival' && heard.refused) return
        if (heard.acceptedAt !== undefined) await judge(work)
        note(heard, await client.post(work, 1, PATIENCE_MS))
      }
      await sleep(PAUSE_MS)
    }
    violations.push(
      `${work.plan.kind} ${work.digest}: not at its end ${STALL_BOUND_MS} ms after the last fault`,
    )
  }

  async function judge({ digest, plan }: Work): Promise<void> {
    const record = await storedRecord(dataDir, digest)
    if (record !== undefined && hasEnded(record) && (await isTakenBack(record.receipt))) takenBack++
    else violations.push(`${plan.kind} ${digest}: taken on, and forgotten`)
  }

  /** Whether its transaction has left the chain, or its block. */
  async function isTakenBack({ txHash, blockNumber }: Receipt): Promise<boolean> {
    const mined = txHash === null ? null : await chain.provider.getTransactionReceipt(txHash)
    return mined === null || mined.blockNumber !== blockNumber
  }

  await Promise.all([...told].map(([work, heard]) => follow(work, heard)))
  return { violations, takenBack }
}

/** Pauses and durations in milliseconds. */
export type Times = ReturnType<typeof timesOf>

export function timesOf(told: readonly Told[], { calmAt }: Moments, uptimes: readonly Uptime[]) {
  const ascending = (a: number, b: number) => a - b
  const ends = told.flatMap(({ endedAt }) => endedAt ?? []).toSorted(ascending)
  const taken = told
    .flatMap(({ postedAt, endedAt }) => (postedAt && endedAt ? endedAt - postedAt : []))
    .toSorted(ascending)
  return {
    /** The longest that nothing ended while something was under way and a server was up. */
    longestPauseMs: Math.max(0, ...uptimes.flatMap((uptime) => pausesIn(uptime, ends))),
    /** From the first post of an authorization to the first answer with its end. */
    medianMs: taken[Math.floor(taken.length / 2)] ?? 0,
    slowestMs: taken.at(-1) ?? 0,
    endedUnderFaults: ends.filter((end) => end < calmAt).length,
  }
}

/** A new server begins with all of its patience. Until the last end there is always something under way. */
function pausesIn({ from, to }: Uptime, ends: readonly number[]): number[] {
  const within = ends.filter((end) => end >= from && end <= to)
  const last = ends.at(-1) ?? to
  const moments = [from, ...within, Math.max(from, Math.min(to, last))]
  return moments.slice(1).map((moment, i) => moment - (moments[i] ?? moment))
}

/** Reports pauses that the relay's own waits do not explain. */
export function stalls({ longestPauseMs }: Times, { calmAt, settledAt }: Moments): string[] {
  const faults: string[] = []
  const settledAfterMs = Math.round(settledAt - calmAt)
  if (longestPauseMs > STALL_BOUND_MS) faults.push(`nothing ended for ${Math.round(longestPauseMs)} ms`)
  if (settledAfterMs > STALL_BOUND_MS) faults.push(`settled ${settledAfterMs} ms after the last fault`)
  return faults
}
