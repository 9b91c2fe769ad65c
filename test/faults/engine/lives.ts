import { setTimeout as sleep } from 'node:timers/promises'
import { handled } from '../../support/handled.js'
import type { ServerUnderFaults } from './serverProcess.js'
import type { Print } from './storm.js'

/** Kills by the clock: under load, and while the process starts. */
export const TIMED_KILLS = ['random', 'starting'] as const

/** Ends one life of the server: at the nth occasion of its kind, or by the clock. */
export interface PlannedKill<Kind extends string = string> {
  readonly kind: Kind
  readonly nth: number
  readonly afterMs: number
}

/** The callbacks of one life. */
export interface Life {
  /** Resolves when the server is up, or has ended. @param variables make the process kill itself at its step */
  start(variables: Record<string, string>): Promise<void>
  /** Begins the load, once the server is up or its start is to be disturbed. */
  begin(): Promise<void> | void
  /** Starts the server again if it may end by itself, until the signal aborts. */
  supervise?(over: AbortSignal): Promise<void>
}

export interface LivesOptions<Kind extends string> {
  readonly server: ServerUnderFaults
  /** Kinds of kills that a preloaded module carries out inside the process. */
  readonly steps: readonly Kind[]
  /** Resolves at the occasion of a kill that is seen from outside. */
  readonly moment: (kill: PlannedKill<Kind>, over: AbortSignal) => Promise<unknown>
  readonly print: Print
  /** How long a life waits for its kill. Default: {@link LIFE_LIMIT_MS}. */
  readonly limitMs?: number | undefined
}

/** A life whose planned end does not come about ends after this long. */
export const LIFE_LIMIT_MS = 15_000

/** Runs one life of the server after the other, each ended by SIGKILL. */
export function createLives<Kind extends string>(options: LivesOptions<Kind>) {
  const { server, steps, moment, print, limitMs = LIFE_LIMIT_MS } = options
  const kills: Record<string, number> = {}
  let unreached = 0
  let lives = 0

  function momentOf(kill: PlannedKill<Kind>, over: AbortSignal): Promise<unknown> {
    if (steps.includes(kill.kind)) return server.ended()
    return isTimed(kill) ? sleep(kill.afterMs) : moment(kill, over)
  }

  return {
    /** By kind: how often the server was killed there. */
    kills,
    /** Counts the lives that ended by the clock, as their moment did not come. */
    unreached: () => unreached,
    async live(kill: PlannedKill<Kind>, { start, begin, supervise }: Life): Promise<void> {
      const { kind, nth, afterMs } = kill
      print(`life ${++lives}: killed at ${kind}, ${isTimed(kill) ? `after ${afterMs} ms` : `number ${nth}`}`)
      const over = new AbortController()
      const isInner = steps.includes(kind)
      const started = handled(start(isInner ? { FAULTS_KILL_AT: kind, FAULTS_KILL_NTH: `${nth}` } : {}))
      if (kind !== 'starting') await started
      const supervised = kind === 'starting' ? undefined : handled(Promise.resolve(supervise?.(over.signal)))
      await begin()
      const isReached = await Promise.race([
        momentOf(kill, over.signal).then(() => true),
        sleep(limitMs, false, { signal: over.signal }).catch(() => false),
      ])
      over.abort()
      await server.kill()
      // Either may have started another process just now.
      await Promise.all([started, supervised])
      await server.kill()
      if (isReached) kills[kind] = (kills[kind] ?? 0) + 1
      else unreached++
    },
  }
}

function isTimed({ kind }: PlannedKill): boolean {
  return TIMED_KILLS.some((timed) => timed === kind)
}

/** Lets one party wait until so many occasions have passed. */
export function createOccasions() {
  let waiting: { left: number; reach: () => void } | undefined
  return {
    after: (occasions: number): Promise<void> =>
      new Promise((resolve) => {
        waiting = { left: occasions, reach: resolve }
      }),
    /** @returns whether the awaited occasion has come */
    pass(): boolean {
      if (waiting === undefined || --waiting.left > 0) return false
      waiting.reach()
      return true
    },
    end(): void {
      waiting = undefined
    },
  }
}
