import { performance } from 'node:perf_hooks'

/** Milliseconds that the event loop has waited for something to do, since the process began. */
export function idleMs(): number {
  return performance.eventLoopUtilization().idle
}
