/** The longest timer, of some 24 days: timers count in 32 bits, and a longer one would end at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1

/** The time that a request may take. */
export interface TimeLimit {
  /** Aborts with the caller's signal, or when the time is over. */
  readonly signal: AbortSignal
  /** To be called once the request has ended: the caller's signal then keeps nothing of it. */
  release(): void
}

/**
 * Not by AbortSignal.any: in Node 20 each of its signals leaves a reference at the caller's, which may live as long as
 * the process.
 *
 * @param timeoutMs MAX_TIMER_MS at most
 */
export function limitTime(timeoutMs: number, caller?: AbortSignal): TimeLimit {
  const limit = new AbortController()
  const abort = () => limit.abort()
  const timer = setTimeout(abort, timeoutMs)
  if (caller?.aborted) abort()
  else if (caller !== undefined) listen(caller, abort)
  return {
    signal: limit.signal,
    release() {
      clearTimeout(timer)
      if (caller !== undefined) unlisten(caller, abort)
    },
  }
}

interface Listening {
  readonly actions: Set<() => void>
  readonly listener: () => void
}

/** One listener at a signal, for all that are under way: of the eleventh Node warns as of a leak. */
const listening = new WeakMap<AbortSignal, Listening>()

function listen(signal: AbortSignal, action: () => void): void {
  const known = listening.get(signal)
  if (known !== undefined) {
    known.actions.add(action)
    return
  }
  const actions = new Set([action])
  const listener = () => {
    for (const each of actions) each()
  }
  listening.set(signal, { actions, listener })
  signal.addEventListener('abort', listener)
}

function unlisten(signal: AbortSignal, action: () => void): void {
  const known = listening.get(signal)
  known?.actions.delete(action)
  if (known === undefined || known.actions.size > 0) return
  listening.delete(signal)
  signal.removeEventListener('abort', known.listener)
}
