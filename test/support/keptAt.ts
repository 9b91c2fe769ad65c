import { getEventListeners } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import * as z from 'zod'

setFlagsFromString('--expose-gc')
const collectGarbage = z.function().parse(runInNewContext('gc'))

/**
 * How much is kept at a signal once memory that nothing uses is freed: listeners, and the sets in which Node remembers
 * signals that depend on it.
 */
export function keptAt(signal: AbortSignal): number {
  collectGarbage()
  const sets = Object.getOwnPropertySymbols(signal).map((name) => {
    const value: unknown = Reflect.get(signal, name)
    const isSet = typeof value === 'object' && value !== null && 'size' in value && 'add' in value
    return isSet ? Number(value.size) : 0
  })
  return sets.reduce((sum, size) => sum + size, getEventListeners(signal, 'abort').length)
}
