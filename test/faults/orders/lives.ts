import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from '../../../src/protocol/hex.js'
import { createLives } from '../engine/lives.js'
import type { Print } from '../engine/storm.js'
import type { FullDisk } from './fullDisk.js'
import type { Notes } from './notes.js'
import { pooledOpenings } from './openings.js'
import type { KillKind, PlannedLife } from './plan.js'
import type { Platform } from './platform.js'
import type { Traders } from './traders.js'

/** A disk that is full may spoil so many starts in one life. */
const STARTS = 20

interface Parts {
  readonly platform: Platform
  readonly traders: Traders
  readonly notes: Notes
  readonly disk: FullDisk
  readonly print: Print
  readonly limitMs: number | undefined
  readonly starts: number | undefined
}

/** Lives of a server whose stores fail: it may end by itself, and starts again. */
export function createOrderLives(parts: Parts) {
  const { traders, notes, disk, print, limitMs, starts = STARTS } = parts
  const { server } = parts.platform
  const spoilt = new Set<number>()
  let unstarted = 0
  const lives = createLives<KillKind>({
    server,
    steps: ['store'],
    moment({ kind, nth }, over) {
      if (kind === 'answered') return traders.answered(nth)
      if (kind === 'opening-sent') return forgetOpening(parts.platform, traders, over)
      if (kind === 'enclave-killed') return notes.further('killed', nth, over)
      return notes.further(kind === 'run-started' ? 'started' : 'ended', nth, over)
    },
    print,
    limitMs,
  })

  /** Whether it ended at its start. That is excused only where its disk failed during the start. */
  async function gaveUpAt(variables: Record<string, string>, isFaulty = false): Promise<boolean> {
    const before = server.gaveUp.length
    const startedAt = performance.now()
    await server.start(variables)
    const gaveUp = server.gaveUp.length > before
    if (gaveUp && (isFaulty || disk.wasFullSince(startedAt))) spoilt.add(before)
    return gaveUp
  }

  /** Starts again until one start succeeds: a server whose disk fails at its start ends with an exit code. */
  async function start({ store }: PlannedLife, variables: Record<string, string>): Promise<void> {
    const faults = { FAULTS_STORE: JSON.stringify(store), ...variables }
    if (!(await gaveUpAt(faults, store.length > 0))) return
    for (let tries = 0; tries < starts; tries++) if (!(await gaveUpAt({}))) return
    unstarted++
  }

  /** Starts the next server when one has ended, as its store is broken. */
  async function supervise(over: AbortSignal): Promise<void> {
    for (let ended = server.gaveUp.length; ; ended++) {
      await server.ended()
      if (over.aborted || server.gaveUp.length === ended) return
      if (await gaveUpAt({})) return
    }
  }

  return {
    kills: lives.kills,
    unreached: lives.unreached,
    /** Counts servers that ended as their disk failed. */
    spoilt: () => spoilt.size,
    async live(life: PlannedLife, begin: () => Promise<void>): Promise<void> {
      const first = server.gaveUp.length
      const mayEnd = life.store.some(({ kind }) => kind === 'commit' || kind === 'sync')
      await lives.live(life.kill, {
        start: (variables) => start(life, variables),
        begin,
        ...(mayEnd && { supervise }),
      })
      if (mayEnd) for (let index = first; index < server.gaveUp.length; index++) spoilt.add(index)
    },
    violations: (): string[] => [
      ...(unstarted > 0 ? [`in ${unstarted} lives no server could start`] : []),
      ...server.gaveUp
        .filter((_, index) => !spoilt.has(index))
        .map((code) => `a server ended by itself, with ${code}`),
    ],
  }
}

const LOOK_MS = 20
/** The server answers as soon as it has stored what it sends. */
const ANSWER_MS = 2_000

/**
 * Kills the server between its sending of an opening that it has taken and the block that would have it, and lets the node forget what it
 * has sent.
 */
async function forgetOpening(
  { server, miner, sandbox }: Platform,
  { signed }: Traders,
  over: AbortSignal,
): Promise<void> {
  const isTaken = async (orderId: Hex) => {
    const giveUpAt = performance.now() + ANSWER_MS
    while (signed.get(orderId)?.isTaken === false && performance.now() < giveUpAt) await sleep(LOOK_MS)
    return signed.get(orderId)?.isTaken === true
  }
  const isForgotten = () =>
    miner.between(async () => {
      const [orderId] = await pooledOpenings({ sandbox })
      if (orderId === undefined || !(await isTaken(orderId))) return false
      await server.kill()
      await sandbox.provider.send('anvil_removePoolTransactions', [sandbox.accounts.relayer.address])
      return true
    })
  while (!over.aborted && !(await isForgotten())) await sleep(LOOK_MS)
}
