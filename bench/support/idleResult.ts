import type { Memory } from './memory.js'

/** A server with so much stored, that nobody asks for anything. */
export interface IdleRow extends Memory {
  readonly stored: number
  /** Of these, in the events of the last 38 days, which a start reads. */
  readonly onChain: number
  /** From the start of the process until it answers. */
  readonly listeningMs: number
  /** From the start of the process until it knows every open order. */
  readonly readyMs: number
}

export interface IdleResult {
  readonly kind: 'idle'
  readonly rows: readonly IdleRow[]
  readonly notes: readonly string[]
}

/** Of a start with 100,000 envelopes. */
const GOAL_MS = 5_000
const GOAL_STORED = 100_000
/**
 * How much more a start on the most that is stored may leave in use than one on nothing. 1.25 of a heap of some 26 MiB is less
 * than 7 bytes for each of a million envelopes: not even a pointer. RSS is twice as lax. It differs by a tenth between two starts, and keeps
 * what the listing of a million names took for a moment: what nobody needs any more, but the process has not given back.
 * What the server knows of the orders of the last 38 days is not judged: it is of the chain, whatever is stored.
 */
const MOST_OF_EMPTY = { heapMiB: 1.25, rssMiB: 1.5 } as const
const HEAD = ['stored', 'on chain', 'listens ms', 'ready ms', 'RSS MiB', 'heap MiB']
const WIDTH = 12

/** The lines of its table. */
export function idleTable({ rows, notes }: IdleResult): string[] {
  const judged = rows.filter(({ stored }) => stored <= GOAL_STORED)
  const offChain = rows.filter(({ onChain }) => onChain === 0)
  const longest = Math.max(...judged.map(({ readyMs }) => readyMs))
  return [
    lineOf(HEAD),
    ...rows.map(({ stored, onChain, listeningMs, readyMs, rssMiB, heapMiB }) =>
      lineOf([stored, onChain, listeningMs, readyMs, rssMiB.toFixed(0), heapMiB.toFixed(1)].map(String)),
    ),
    `  goal: ready within ${GOAL_MS} ms with up to ${GOAL_STORED}: ${longest <= GOAL_MS ? 'met' : 'missed'}`,
    memoryGoal('RSS', 'rssMiB', offChain),
    memoryGoal('heap', 'heapMiB', offChain),
    ...notes.map((note) => `  ${note}`),
  ]
}

/** Near flat: what a start with the most stored leaves, beside one with the least. */
function memoryGoal(name: string, measure: keyof typeof MOST_OF_EMPTY, rows: readonly IdleRow[]): string {
  const counts = rows.map(({ stored }) => stored)
  const [least, most] = [Math.min(...counts), Math.max(...counts)]
  if (least === most)
    return `  goal: ${name} near flat: not judged, as there is one number of stored envelopes`
  const leftWith = (count: number) => rows.find(({ stored }) => stored === count)?.[measure] ?? 0
  const ratio = leftWith(most) / leftWith(least)
  const goal = MOST_OF_EMPTY[measure]
  const verdict = ratio <= goal ? 'met' : 'missed'
  return `  goal: ${name} with ${most} at most ${goal} of that with ${least}: ${ratio.toFixed(2)}, ${verdict}`
}

function lineOf(cells: readonly string[]): string {
  return cells.map((cell) => cell.padStart(WIDTH)).join('')
}
