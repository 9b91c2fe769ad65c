// Lists that the caller's store keeps between visits. They are the chain's public data, so nothing of them is sealed.
import * as z from 'zod/mini'
import type { BlockId, BlockRange } from '../chain/logReader.js'
import { concatBytes } from '../protocol/hex.js'
import { createSlices } from './slices.js'

/** Keeps bytes under a name, such as a table of IndexedDB. A store that fails costs time, and no entry. */
export interface HistoryStore {
  get(name: string): Promise<Uint8Array | null | undefined>
  set(name: string, bytes: Uint8Array): Promise<void>
}

/** How far a list has been read. Everything in it is plain data: a page may keep it, and read on later. */
export interface ReadList {
  /** The blocks that have been read, both included; null before the first of them. */
  readonly read: BlockRange | null
  /** The blocks of the whole list: from the first one asked for to the newest. */
  readonly span: BlockRange
  /** Blocks up to this one are not read again while the chain has it; null before the first, and in the first blocks of a chain. */
  readonly checkpoint: BlockId | null
  /** Whether nothing is left to read: neither newer blocks nor older ones. */
  readonly isComplete: boolean
}

/** Where an item is on the chain. */
export interface BlockPlace {
  readonly blockNumber: number
  readonly logIndex: number
}

/** Hex that this library wrote: reading it as an address of the wire would compute its checksum again. */
export const keptHex = z.templateLiteral(['0x', z.string()])

const blockSchema = z.int().check(z.minimum(0))
const rangeSchema = z.strictObject({ from: blockSchema, to: blockSchema })

/** The fields of every listing. */
export const listShape = {
  read: z.nullable(rangeSchema),
  span: rangeSchema,
  checkpoint: z.nullable(z.strictObject({ number: blockSchema, hash: keptHex })),
  isComplete: z.boolean(),
}

interface Keeping<L extends ReadList> {
  /** Without a store nothing is kept. */
  readonly store: HistoryStore | undefined
  /** Another one for each chain, contract and query. */
  readonly name: () => Promise<string>
  readonly schema: z.ZodMiniType<L>
  /** The fields that are long lists. */
  readonly rows: readonly (keyof L)[]
  readonly itemsOf: (listing: L) => readonly BlockPlace[]
}

/** A list that has read so many more blocks is kept again although it has no new item: its next reader begins there. */
const KEPT_EVERY_BLOCKS = 2_000

/** Yields what was kept, and then what `read` yields, which is kept as it grows. A store that fails costs time, and no item. */
export async function* keepList<L extends ReadList>(
  { store, name, itemsOf, ...form }: Keeping<L>,
  resume: L | undefined,
  read: (from: L | undefined) => AsyncGenerator<L, void, undefined>,
): AsyncGenerator<L, void, undefined> {
  if (store === undefined) {
    yield* read(resume)
    return
  }
  const key = (await name()).toLowerCase()
  const before = resume ?? (await unlessFailed(async () => listingIn(await store.get(key), form)))
  if (resume === undefined && before !== undefined) yield { ...before, isComplete: false }
  let [saved, last] = [before, before]
  const save = async (listing: L) => {
    saved = listing
    const bytes = await bytesOf(listing, form)
    await unlessFailed(() => store.set(key, bytes))
  }
  try {
    for await (const soFar of read(before)) {
      last = soFar
      // A page may be closed at any time, and each time would be too often.
      if (blocksOf(soFar) > 2 * blocksOf(saved)) await save(soFar)
      yield soFar
    }
  } finally {
    if (last !== undefined && stateOf(last, itemsOf) !== (saved && stateOf(saved, itemsOf))) await save(last)
  }
}

type Form<L extends ReadList> = Pick<Keeping<L>, 'schema' | 'rows'>

/** Rows of one line: a page reads or writes so many within a slice. */
const ROWS_OF_A_LINE = 500
const NEWLINE = 0x0a

/** A line for each so many rows, which is a listing too: so a page keeps and reads a long one between its frames. */
async function bytesOf<L extends ReadList>(listing: L, { schema, rows }: Form<L>): Promise<Uint8Array> {
  const slices = createSlices()
  const lines: Uint8Array[] = []
  const most = Math.max(...rows.map((name) => rowsIn(listing, name).length))
  for (let from = 0; from === 0 || from < most; from += ROWS_OF_A_LINE) {
    if (slices.isOver()) await slices.next()
    const part = withRows(listing, rows, (name) => rowsIn(listing, name).slice(from, from + ROWS_OF_A_LINE))
    const line = JSON.stringify(z.encode(schema, part))
    lines.push(new TextEncoder().encode(from === 0 ? line : `\n${line}`))
  }
  return concatBytes(...lines)
}

/** Undefined for bytes of another form. */
async function listingIn<L extends ReadList>(
  bytes: Uint8Array | null | undefined,
  { schema, rows }: Form<L>,
): Promise<L | undefined> {
  const slices = createSlices()
  const parts: L[] = []
  for (let from = 0; bytes && from < bytes.length; ) {
    if (slices.isOver()) await slices.next()
    const end = bytes.indexOf(NEWLINE, from)
    const line = bytes.subarray(from, end < 0 ? bytes.length : end)
    parts.push(z.parse(schema, JSON.parse(new TextDecoder().decode(line))))
    from += line.length + 1
  }
  const [first] = parts
  return first && withRows(first, rows, (name) => parts.flatMap((part) => rowsIn(part, name)))
}

function withRows<L>(
  listing: L,
  rows: readonly (keyof L)[],
  rowsOf: (name: keyof L) => readonly unknown[],
): L {
  return { ...listing, ...Object.fromEntries(rows.map((name) => [name, rowsOf(name)])) }
}

function rowsIn<L>(listing: L, name: keyof L): readonly unknown[] {
  const value: unknown = listing[name]
  return Array.isArray(value) ? value : []
}

function blocksOf(listing: ReadList | undefined): number {
  return listing?.read ? listing.read.to - listing.read.from + 1 : 0
}

/** Differs where a list is worth keeping again. Its unsettled items are read again in any case. */
function stateOf<L extends ReadList>(listing: L, itemsOf: (listing: L) => readonly BlockPlace[]): string {
  const items = itemsOf(listing)
  const ends = [items[0], items.at(-1)].map((item) => `${item?.blockNumber} ${item?.logIndex}`)
  const { read } = listing
  return [items.length, ...ends, read?.from, Math.floor((read?.to ?? 0) / KEPT_EVERY_BLOCKS)].join(' ')
}

/** A full or forbidden store must not prevent reading the history. */
export async function unlessFailed<T>(use: () => Promise<T>): Promise<T | undefined> {
  try {
    return await use()
  } catch {
    return undefined
  }
}
