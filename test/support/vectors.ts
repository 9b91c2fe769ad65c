import { readFileSync } from 'node:fs'
import * as z from 'zod'
import type { Hex } from '../../src/protocol/hex.js'

/** A frozen vector file of `test/vectors`, parsed. */
export function readVectors<T extends z.core.$ZodType>(name: string, schema: T): z.output<T> {
  const url = new URL(`../vectors/${name}.json`, import.meta.url)
  return z.parse(schema, JSON.parse(readFileSync(url, 'utf8')))
}

type Hexes<T> = T extends string ? Hex : T extends object ? { [K in keyof T]: Hexes<T[K]> } : T

/** A vector file as imported, whose texts stand where hex is wanted: a few are other texts, and may stand where any text may. */
export const hexesIn = <T>(vectors: T): Hexes<T> => vectors as Hexes<T>
