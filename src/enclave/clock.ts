import { setTimeout as delay } from 'node:timers/promises'
import { RunFailure } from './failures.js'

/** Time, handed in so that tests can steer it. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number
  sleep(ms: number): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (ms) => {
    await delay(ms)
  },
}

/** @param stopAt Unix seconds; broker and relay are not called from then on, because another run may have begun */
export function createRunClock(clock: Clock, stopAt: number) {
  const allows = (ms: number) => clock.now() + ms < stopAt * 1_000
  const check = (ms: number) => {
    if (!allows(ms)) throw new RunFailure('out-of-time')
  }
  return {
    /** Unix milliseconds, and whole seconds. */
    now: () => clock.now(),
    seconds: () => Math.floor(clock.now() / 1_000),
    /** Whether the run may still be going on `ms` from now. */
    allows,
    /** Stands before every call to broker and relay. @throws RunFailure `out-of-time` from `stopAt` on */
    check: (): void => check(0),
    /** @throws RunFailure `out-of-time` immediately when it would end after `stopAt` */
    async sleep(ms: number): Promise<void> {
      check(ms)
      await clock.sleep(ms)
    },
  }
}

/** The clock of one run, which ends at `stopAt`. */
export type RunClock = ReturnType<typeof createRunClock>
