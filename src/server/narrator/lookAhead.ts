import type { BlockRange, ChainReader, Look } from './chainReader.js'

/** Looks at the chain; the next look can be under way while what the last one found is told. */
export interface LookAhead {
  /** The look that was prepared, when it was this one; else one that begins now. */
  readonly look: ChainReader['look']
  /** Begins the look that comes next. */
  prepare(number: number, range: BlockRange, signal: AbortSignal): void
  /** What was prepared is too old by now. */
  forget(): void
}

export function createLookAhead(chain: Pick<ChainReader, 'look'>): LookAhead {
  let prepared: { number: number; range: BlockRange; look: Promise<Look> } | undefined

  return {
    look(number, range, signal) {
      const ready = prepared
      prepared = undefined
      const isPrepared =
        ready?.number === number && ready.range.from === range?.from && ready.range.to === range.to
      return isPrepared ? ready.look : chain.look(number, range, signal)
    },
    prepare(number, range, signal) {
      const look = chain.look(number, range, signal)
      // Whoever asks for it is told; it may be that nobody does.
      look.catch(() => undefined)
      prepared = { number, range, look }
    },
    forget() {
      prepared = undefined
    },
  }
}
