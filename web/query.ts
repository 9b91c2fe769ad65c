import { computed, effect, type ReadonlySignal, signal } from '@preact/signals'
import type { Calm } from './calm.js'

/**
 * A question that is repeated. `report` may deliver partial values before the answer. A signal that it reads before its
 * first `await` asks it again when it changes.
 */
export type Ask<T> = (signal: AbortSignal, report: (value: T) => void) => Promise<T>

/** The pause before the next poll in milliseconds: constant, or derived from the last answer or failure; null: none. */
export type Pace<T> = number | ((value: T | null, error: unknown) => number | null)

/** The last answer, and the failure since then. Reading any of it in a component subscribes the component. */
export interface Query<T> extends Answer<T> {
  /** Asks at once, if a component shows the answer. */
  refresh(): void
}

export interface Answer<T> {
  readonly value: T | null
  /** Whether an answer has arrived; it may itself be null. */
  readonly answered: boolean
  readonly error: unknown
}

export interface QueryOptions<T> {
  /** Whether the page is visible. */
  readonly isSeen: ReadonlySignal<boolean>
  /** Null while there is nothing to ask. Another question discards the answer. */
  readonly question: () => Ask<T> | null
  readonly pace: Pace<T>
  /** Asks less often while nothing moves. Default: always at the pace. */
  readonly calm?: Calm | undefined
  /** The kept value before it is asked for again, because more may have happened since. */
  readonly aged?: (value: T) => T
}

/** Asks while a component shows the answer and the page is visible: at once, and then at a pace. Keeps the answer. */
export function createQuery<T>({ isSeen, question, pace, calm, aged }: QueryOptions<T>): Query<T> {
  const current = computed(question)
  const refreshed = signal(0)
  let answeredTo: Ask<T> | null = null
  let stop = () => {}
  const answer = signal<Answer<T>>(unanswered(), {
    watched() {
      stop = effect(() => {
        const ask = current.value
        refreshed.value
        calm?.stirred.value
        if (ask !== answeredTo) {
          answeredTo = ask
          const { answered, error } = answer.peek()
          if (answered || error !== null) answer.value = unanswered()
        }
        if (ask !== null && isSeen.value) return begin(ask)
      })
    },
    unwatched: () => stop(),
  })

  function begin(ask: Ask<T>): () => void {
    const ended = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const before = answer.peek()
    if (aged !== undefined && before.value !== null) answer.value = { ...before, value: aged(before.value) }
    const report = (value: T) => {
      const last = answer.peek()
      const isKnown = last.answered && last.value === value && last.error === null
      if (!ended.signal.aborted && !isKnown) answer.value = { value, answered: true, error: null }
    }
    const look = async () => {
      let pauseMs: number | null
      try {
        const value = await ask(ended.signal, report)
        report(value)
        pauseMs = pauseAfter(pace, value, null)
      } catch (error) {
        if (!ended.signal.aborted) answer.value = { ...answer.peek(), error }
        pauseMs = pauseAfter(pace, null, error)
      }
      if (ended.signal.aborted || pauseMs === null) return
      timer = setTimeout(look, calm === undefined ? pauseMs : calm.pause(pauseMs))
    }
    look()
    return () => {
      ended.abort()
      clearTimeout(timer)
    }
  }

  return {
    get value() {
      return answer.value.value
    },
    get answered() {
      return answer.value.answered
    },
    get error() {
      return answer.value.error
    },
    refresh() {
      refreshed.value = refreshed.peek() + 1
    },
  }
}

function pauseAfter<T>(pace: Pace<T>, value: T | null, error: unknown): number | null {
  return typeof pace === 'number' ? pace : pace(value, error)
}

function unanswered<T>(): Answer<T> {
  return { value: null, answered: false, error: null }
}

/** The question that follows a generator of the client. Once the generator has ended, its last value is the answer. */
export function following<T>(begin: (signal: AbortSignal) => AsyncGenerator<T>): Ask<T> {
  let final: { readonly value: T } | undefined
  return async (signal, report) => {
    if (final !== undefined) return final.value
    let last: { readonly value: T } | undefined
    for await (const value of begin(signal)) {
      last = { value }
      report(value)
    }
    if (last === undefined) throw new Error('the generator has ended without a value')
    final = last
    return last.value
  }
}
