import { readFileSync } from 'node:fs'
import * as z from 'zod'

const fileSchema = z.object({ source: z.string(), example: z.unknown() })

/** A documented answer of Alpaca's, from `test/vectors/alpaca`. */
export function alpacaExample(name: string): unknown {
  const url = new URL(`../vectors/alpaca/${name}.json`, import.meta.url)
  return fileSchema.parse(JSON.parse(readFileSync(url, 'utf8'))).example
}
