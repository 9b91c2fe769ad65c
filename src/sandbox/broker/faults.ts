import type { Reply } from './types.js'

/** What goes wrong with the next matching requests: `respond` or `drop`, after `delayMs` if given, or only a delay. */
export interface Fault {
  /** Any when absent. */
  readonly method?: string | undefined
  /** Start of the path, such as `/v2/orders`; any when absent. */
  readonly path?: string | undefined
  /** Name of the account whose keys the request carries; any when absent. */
  readonly account?: string | undefined
  /** How many requests it strikes; 1 when absent. */
  readonly times?: number | undefined
  /** Answered instead of handling the request. */
  readonly respond?: Reply | undefined
  /** The connection is cut before the request is handled, or after, its answer lost. */
  readonly drop?: 'before' | 'after' | undefined
  /** Waits before anything else. */
  readonly delayMs?: number | undefined
}

export interface Faults {
  add(fault: Fault): void
  clear(): void
  /** The fault that strikes this request, counted down; the oldest that matches. */
  strike(request: { method: string; path: string; account: string | null }): Fault | undefined
}

export function createFaults(): Faults {
  let pending: { fault: Fault; left: number }[] = []
  return {
    add: (fault) => pending.push({ fault, left: fault.times ?? 1 }),
    clear: () => {
      pending = []
    },
    strike(request) {
      const entry = pending.find(({ fault }) => matches(fault, request))
      if (!entry) return undefined
      entry.left -= 1
      pending = pending.filter(({ left }) => left > 0)
      return entry.fault
    },
  }
}

function matches(fault: Fault, request: { method: string; path: string; account: string | null }): boolean {
  return (
    (fault.method ?? request.method) === request.method &&
    request.path.startsWith(fault.path ?? '') &&
    (fault.account === undefined || fault.account === request.account)
  )
}
