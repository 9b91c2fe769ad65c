import { readFileSync } from 'node:fs'
import * as z from 'zod'

/** A frozen vector file of `test/vectors`, parsed. */
export function readVectors<T extends z.core.$ZodType>(name: string, schema: T): z.output<T> {
  const url = new URL(`../vectors/${name}.json`, import.meta.url)
  return z.parse(schema, JSON.parse(readFileSync(url, 'utf8')))
}
