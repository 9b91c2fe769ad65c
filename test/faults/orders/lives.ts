import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerUnderFaults } from '../support/serverProcess.js'
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
  /** Starts that a failing disk has spoilt. */
  spoilt(): number
}

export function createLives(server: ServerUnderFaults, traders: Traders, word: Word): Lives {
  const kills: Record<string, number> = {}
  let unreached = 0
  let spoilt = 0

  /** Resolves when the moment has come. A file operation ends the process by itself. */
  function moment({ kind, nth, afterMs }: PlannedKill, over: AbortSignal): Promise<unknown> {
    if (kind === 'answered') return traders.answered(nth)
    if (kind === 'run-started') return word.further('started', nth, over)
    if (kind === 'run-ended') return word.further('ended', nth, over)
    return kind === 'file' ? server.ended() : sleep(afterMs)
  }

  /** A server may end at its start when its disk fails, and says so with its exit code. */
  async function start({ kill, files, world }: PlannedLife): Promise<void> {
    const before = server.gaveUp.length
    await server.start({
      FAULTS_FILES: JSON.stringify(files),
      ...(kill.kind === 'file' && { FAULTS_KILL_AT: `${kill.nth}` }),
    })
    if (server.gaveUp.length === before) return
    if (files.length > 0 || world.some((event) => event.kind === 'disk-full')) spoilt++
    await server.start()
  }

  return {
    kills,
    unreached: () => unreached,
    spoilt: () => spoilt,
    async live(life, begin) {
      const { kill } = life
      const started = start(life)
      if (kill.kind !== 'starting') await started
      await begin()
      const over = new AbortController()
      const isReached = await Promise.race([
        moment(kill, over.signal).then(() => true),
        sleep(LIFE_LIMIT_MS, false, { signal: over.signal }).catch(() => false),
      ])
      await server.kill()
      over.abort()
      await started
      await server.kill()
      if (isReached) kills[kill.kind] = (kills[kill.kind] ?? 0) + 1
      else unreached++
    },
  }
}
