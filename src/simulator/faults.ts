import type { z } from 'zod'
import type { controlSchemas } from './controlSchemas.js'

type Fault = z.output<typeof controlSchemas.fault>

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
