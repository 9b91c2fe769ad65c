import { setTimeout as sleep } from 'node:timers/promises'
import { INNER_STEPS } from './kinds.js'
import type { PlannedKill } from './plan.js'
import type { RelayServer } from './relayServer.js'
import { LIFE_LIMIT_MS } from './settings.js'

export interface Lives {
  /** Starts the server on these nodes, has it worked with, and resolves when it has been killed as planned. */
  live(kill: PlannedKill, nodes: readonly number[], work: () => void): Promise<void>
  /** To be told of each transaction that the node has heard of; resolves when its answer may go on. */
  passed(): Promise<void>
  readonly kills: Record<string, number>
  unreached(): number
}

const LOOK_MS = 10

/** @param minedCount transactions of the relayer's account that are in blocks */
export function createLives(server: RelayServer, minedCount: () => Promise<number>): Lives {
  const kills: Record<string, number> = {}
  let unreached = 0
  let passes: { left: number; reach: () => void } | undefined

  function accepted(nth: number): Promise<void> {
    return new Promise((resolve) => {
      passes = { left: nth, reach: resolve }
    })
  }

  async function mined(nth: number, over: AbortSignal): Promise<void> {
    const before = await minedCount()
    while (!over.aborted && (await minedCount()) < before + nth) await sleep(LOOK_MS)
  }

  /** Resolves when the moment has come. An inner step ends the process by itself. */
  function moment({ kind, nth, afterMs }: PlannedKill, over: AbortSignal): Promise<unknown> {
    if (kind === 'accepted') return accepted(nth)
    if (kind === 'mined') return mined(nth, over)
    return kind === 'random' || kind === 'starting' ? sleep(afterMs) : server.ended()
  }

  return {
    kills,
    unreached: () => unreached,
    async live(kill, nodes, work) {
      const { kind, nth } = kill
      const isInner = INNER_STEPS.some((step) => step === kind)
      const started = server.start(nodes, isInner ? { FAULTS_KILL_AT: kind, FAULTS_KILL_NTH: `${nth}` } : {})
      if (kind !== 'starting') await started
      work()
      const over = new AbortController()
      const isReached = await Promise.race([
        moment(kill, over.signal).then(() => true),
        sleep(LIFE_LIMIT_MS, false, { signal: over.signal }).catch(() => false),
      ])
      await server.kill()
      over.abort()
      passes = undefined
      if (isReached) kills[kind] = (kills[kind] ?? 0) + 1
      else unreached++
    },
    async passed() {
      if (passes === undefined || --passes.left > 0) return
      passes.reach()
      // Withheld until the process is gone.
      await server.ended()
    },
  }
}
