import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

export interface Memory {
  /** In use after a garbage collection. */
  readonly heapMiB: number
  readonly rssMiB: number
}

const MIB = 2 ** 20
const memorySchema = z.strictObject({ heapUsed: z.number(), rss: z.number() })

/** Options of a Node process that `memoryOf` can ask. */
export const MEMORY_OPTIONS: readonly string[] = [
  '--expose-gc',
  '--import',
  fileURLToPath(new URL('./memoryReporter.mjs', import.meta.url)),
]

/** What a process holds now, its garbage collected. */
export async function memoryOf(child: ChildProcess): Promise<Memory> {
  child.send({})
  const [answer] = await once(child, 'message')
  const { heapUsed, rss } = memorySchema.parse(answer)
  return { heapMiB: heapUsed / MIB, rssMiB: rss / MIB }
}
