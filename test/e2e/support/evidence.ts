import { createHash } from 'node:crypto'
import { type Canary, findCanaries } from './canaries.js'

/** The kind of a piece of evidence. */
export type Kind = 'log' | 'response' | 'file' | 'process' | 'error'

/** Everything that the server let out, kept until it is searched. */
export interface Evidence {
  /** The same content of the same source is kept once. */
  add(kind: Kind, source: string, content: Buffer | string): void
  /** Where evidence of a kind came from, in the order of its coming. */
  sources(kind: Kind): string[]
  /** `<source>: <canary>` of every find. */
  search(kind: Kind, canaries: readonly Canary[]): string[]
}

export function createEvidence(): Evidence {
  const pieces = new Map<string, { kind: Kind; source: string; content: Buffer }>()
  const all = (kind: Kind) => [...pieces.values()].filter((piece) => piece.kind === kind)
  return {
    add(kind, source, content) {
      const bytes = Buffer.from(content)
      const digest = createHash('sha256').update(bytes).digest('hex')
      const key = [kind, source, digest].join('\n')
      if (!pieces.has(key)) pieces.set(key, { kind, source, content: bytes })
    },
    sources: (kind) => all(kind).map(({ source }) => source),
    search: (kind, canaries) =>
      all(kind).flatMap(({ source, content }) =>
        findCanaries(content, canaries).map((name) => `${source}: ${name}`),
      ),
  }
}
