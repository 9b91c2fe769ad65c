import { readFileSync } from 'node:fs'
import type { z } from 'zod'

/** A frozen vector file of `test/vectors`, parsed. */
export function readVectors<T extends z.ZodType>(name: string, schema: T): z.output<T> {
  const url = new URL(`../vectors/${name}.json`, import.meta.url)
  return schema.parse(JSON.parse(readFileSync(url, 'utf8')))
}
