import { createHash } from 'node:crypto'
import { type Canary, findCanaries } from './canaries.js'

/** The kind of a piece of evidence. */
export type Kind = 'log' | 'response' | 'file' | 'process' | 'error'

export type Evidence = ReturnType<typeof createEvidence>

/** Everything that the server let out, kept until it is searched. */
export function createEvidence() {
  const pieces = new Map<string, { kind: Kind; source: string; content: Buffer }>()
  const all = (kind: Kind) => [...pieces.values()].filter((piece) => piece.kind === kind)
  return {
    /** The same content of the same source is kept once. */
    add(kind: Kind, source: string, content: Buffer | string): void {
      const bytes = Buffer.from(content)
      const digest = createHash('sha256').update(bytes).digest('hex')
      const key = [kind, source, digest].join('\n')
      if (!pieces.has(key)) pieces.set(key, { kind, source, content: bytes })
    },
    /** Where evidence of a kind came from, in the order of its coming. */
    sources: (kind: Kind) => all(kind).map(({ source }) => source),
    /** `<source>: <canary>` of every find. */
    search: (kind: Kind, canaries: readonly Canary[]) =>
      all(kind).flatMap(({ source, content }) =>
        findCanaries(content, canaries).map((name) => `${source}: ${name}`),
      ),
  }
}
