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
const HEAD = ['stored', 'on chain', 'listens ms', 'ready ms', 'RSS MiB', 'heap MiB']
const WIDTH = 12

/** The lines of its table. */
export function idleTable({ rows, notes }: IdleResult): string[] {
  const judged = rows.filter(({ stored }) => stored <= GOAL_STORED)
  const longest = Math.max(...judged.map(({ readyMs }) => readyMs))
  return [
    lineOf(HEAD),
    ...rows.map(({ stored, onChain, listeningMs, readyMs, rssMiB, heapMiB }) =>
      lineOf([stored, onChain, listeningMs, readyMs, rssMiB.toFixed(0), heapMiB.toFixed(1)].map(String)),
    ),
    `  goal: ready within ${GOAL_MS} ms with up to ${GOAL_STORED}: ${longest <= GOAL_MS ? 'met' : 'missed'}`,
    ...notes.map((note) => `  ${note}`),
  ]
}

function lineOf(cells: readonly string[]): string {
  return cells.map((cell) => cell.padStart(WIDTH)).join('')
}
