import type { PlannedFault } from './plan.js'

/** Planned faults, each waiting for its occasion. */
export interface FaultQueue<Kind extends string> {
  /** Returns the fault of this occasion, mostly none. A fault that does not apply waits for an occasion where it does. */
  next(applies?: (kind: Kind) => boolean): PlannedFault<Kind> | undefined
  /** Takes back a fault that had no effect, for the next occasion. */
  giveBack(fault: PlannedFault<Kind>): void
  /** Whether all of them have struck. */
  isEmpty(): boolean
  /** Drops the faults that are left. */
  end(): void
  /** Counts the faults that struck, by kind. */
  struck(): Record<string, number>
}

export function createFaultQueue<Kind extends string>(
  name: string,
  planned: readonly PlannedFault<Kind>[],
): FaultQueue<Kind> {
  const left = planned.map((fault) => ({ fault, after: fault.after, times: fault.times }))
  const counts = new Map<string, number>(planned.map(({ kind }) => [`${name} ${kind}`, 0]))
  const count = (kind: Kind, by: number) =>
    counts.set(`${name} ${kind}`, (counts.get(`${name} ${kind}`) ?? 0) + by)
  let passed = 0
  return {
    next(applies = () => true) {
      const [due] = left
      passed++
      if (due === undefined || passed <= due.after || !applies(due.fault.kind)) return undefined
      due.times--
      if (due.times === 0) {
        left.shift()
        passed = 0
      }
      count(due.fault.kind, 1)
      return due.fault
    },
    giveBack(fault) {
      count(fault.kind, -1)
      left.unshift({ fault, after: 0, times: 1 })
    },
    isEmpty: () => left.length === 0,
    end() {
      left.length = 0
    },
    struck: () => Object.fromEntries(counts),
  }
}
