import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerUnderFaults } from '../support/serverProcess.js'
import type { FullDisk } from './fullDisk.js'
import type { PlannedKill, PlannedLife } from './plan.js'
import { LIFE_LIMIT_MS } from './settings.js'
import type { Traders } from './traders.js'
import type { Word } from './word.js'

/** One life of the server after the other, each ended by SIGKILL. */
export interface Lives {
  /** @param begin what is begun in it, once the server is up */
  live(life: PlannedLife, begin: () => Promise<void>): Promise<void>
  readonly kills: Record<string, number>
  /** Lives that ended by the clock, as the moment did not come. */
  unreached(): number
  /** Which of the servers that gave up did so because their disk failed. */
  readonly spoilt: ReadonlySet<number>
  /** Lives in which no start succeeded. */
  unstarted(): number
}

/** Its store fails in a way that ends the server. */
function mayEnd({ store }: PlannedLife): boolean {
  return store.some(({ kind }) => kind === 'commit' || kind === 'sync')
}

/** However often a disk that is full spoils the start of one life. */
const STARTS = 20

export function createLives(server: ServerUnderFaults, traders: Traders, word: Word, disk: FullDisk): Lives {
  const kills: Record<string, number> = {}
  let unreached = 0
  const spoilt = new Set<number>()
  let unstarted = 0

  /** Resolves when the moment has come. A step of the stores ends the process by itself. */
  function moment({ kind, nth, afterMs }: PlannedKill, over: AbortSignal): Promise<unknown> {
    if (kind === 'answered') return traders.answered(nth)
    if (kind === 'run-started') return word.further('started', nth, over)
    if (kind === 'run-ended') return word.further('ended', nth, over)
    return kind === 'store' ? server.ended() : sleep(afterMs)
  }

  /** Whether it gave up at its start. That is excused only where its disk has failed meanwhile. */
  async function gaveUpAt(variables: Record<string, string>, isFaulty = false): Promise<boolean> {
    const before = server.gaveUp.length
    const startedAt = performance.now()
    await server.start(variables)
    const gaveUp = server.gaveUp.length > before
    if (gaveUp && (isFaulty || disk.wasFullSince(startedAt))) spoilt.add(before)
    return gaveUp
  }

  /** A server may end at its start when its disk fails, and says so with its exit code. */
  async function start({ kill, store }: PlannedLife): Promise<void> {
    const faults = {
      FAULTS_STORE: JSON.stringify(store),
      ...(kill.kind === 'store' && { FAULTS_KILL_AT: `${kill.nth}` }),
    }
    if (!(await gaveUpAt(faults, store.length > 0))) return
    for (let tries = 0; tries < STARTS; tries++) if (!(await gaveUpAt({}))) return
    unstarted++
  }

  /** A server whose store is broken ends, and its supervisor starts the next one. @param before how many had ended so */
  async function supervise(life: PlannedLife, before: number, over: AbortSignal): Promise<void> {
    for (let ended = before; mayEnd(life); ended++) {
      await server.ended()
      if (over.aborted || server.gaveUp.length === ended) return
      if (await gaveUpAt({})) return
    }
  }

  return {
    kills,
    unreached: () => unreached,
    spoilt,
    unstarted: () => unstarted,
    async live(life, begin) {
      const { kill } = life
      const first = server.gaveUp.length
      const started = start(life)
      if (kill.kind !== 'starting') await started
      const over = new AbortController()
      const supervised =
        kill.kind === 'starting' ? undefined : supervise(life, server.gaveUp.length, over.signal)
      await begin()
      const isReached = await Promise.race([
        moment(kill, over.signal).then(() => true),
        sleep(LIFE_LIMIT_MS, false, { signal: over.signal }).catch(() => false),
      ])
      over.abort()
      await server.kill()
      await supervised
      await started
      await server.kill()
      if (mayEnd(life)) for (let index = first; index < server.gaveUp.length; index++) spoilt.add(index)
      if (isReached) kills[kill.kind] = (kills[kill.kind] ?? 0) + 1
      else unreached++
    },
  }
}
