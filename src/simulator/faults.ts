import type { Reply } from './types.js'

/** A fault of the next matching requests: `respond` or `drop`, after `delayMs` if given, or a delay alone. */
export interface Fault {
  /** Any method if absent. */
  readonly method?: string | undefined
  /** Prefix of the path, such as `/v2/orders`; any path if absent. */
  readonly path?: string | undefined
  /** The account whose keys the request carries; any account if absent. */
  readonly account?: string | undefined
  /** The number of requests that it affects; 1 if absent. */
  readonly times?: number | undefined
  /** The answer, instead of handling the request. */
  readonly respond?: Reply | undefined
  /** Cuts the connection before the request is handled, or after, so that its answer is lost. */
  readonly drop?: 'before' | 'after' | undefined
  /** A delay before all other effects. */
  readonly delayMs?: number | undefined
}

export function createFaults() {
  let pending: { fault: Fault; left: number }[] = []
  return {
    add(fault: Fault): void {
      pending.push({ fault, left: fault.times ?? 1 })
    },
    clear: (): void => {
      pending = []
    },
    /** The oldest fault that matches this request; decrements its count. */
    strike(request: { method: string; path: string; account: string | null }): Fault | undefined {
      const entry = pending.find(({ fault }) => matches(fault, request))
      if (!entry) return undefined
      entry.left -= 1
      pending = pending.filter(({ left }) => left > 0)
      return entry.fault
    },
  }
}

export type Faults = ReturnType<typeof createFaults>

function matches(fault: Fault, request: { method: string; path: string; account: string | null }): boolean {
  return (
    (fault.method ?? request.method) === request.method &&
    request.path.startsWith(fault.path ?? '') &&
    (fault.account === undefined || fault.account === request.account)
  )
}
