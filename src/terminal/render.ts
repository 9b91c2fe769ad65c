import { formatDecimal, formatGrouped } from '../protocol/units.js'

/** An amount in base units. */
interface Amount {
  readonly units: bigint
  readonly decimals: number
  /** Shown to people only. */
  readonly unit?: string
}

export type Cell = string | Amount

/** A unit of output. */
export type Block =
  | { readonly kind: 'fields'; readonly fields: readonly (readonly [label: string, value: Cell])[] }
  | { readonly kind: 'table'; readonly head: readonly string[]; readonly rows: readonly (readonly Cell[])[] }
  | { readonly kind: 'line'; readonly cells: readonly Cell[] }

export const fields = (rows: Extract<Block, { kind: 'fields' }>['fields']): Block => ({
  kind: 'fields',
  fields: rows,
})
export const table = (head: readonly string[], rows: readonly (readonly Cell[])[]): Block => ({
  kind: 'table',
  head,
  rows,
})
export const line = (cells: readonly Cell[]): Block => ({ kind: 'line', cells })

/** Aligned, with thousands separators and units; or fields separated by tabs, for other programs. */
type Style = 'people' | 'plain'

export function renderBlocks(blocks: readonly Block[], style: Style): string {
  const shown = blocks.map((block) => linesOf(block, style).join('\n')).filter((text) => text !== '')
  return shown.join(style === 'people' ? '\n\n' : '\n')
}

function linesOf(block: Block, style: Style): string[] {
  if (style === 'plain') return rowsOf(block).map((row) => row.map(plain).join('\t'))
  if (block.kind === 'line') return [block.cells.map(forPeople).join('  ')]
  if (block.kind === 'fields') return aligned(block.fields, ['left', 'left'])
  const sides = block.head.map((_, column) =>
    block.rows.some((row) => isAmount(row[column])) ? 'right' : 'left',
  )
  return block.rows.length === 0 ? [] : aligned([block.head, ...block.rows], sides)
}

function rowsOf(block: Block): readonly (readonly Cell[])[] {
  if (block.kind === 'line') return [block.cells]
  return block.kind === 'fields' ? block.fields : block.rows
}

function aligned(rows: readonly (readonly Cell[])[], sides: readonly ('left' | 'right')[]): string[] {
  const texts = rows.map((row) => row.map(forPeople))
  const widths = sides.map((_, column) => Math.max(...texts.map((row) => (row[column] ?? '').length)))
  return texts.map((row) =>
    row
      .map((text, column) =>
        sides[column] === 'right' ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  )
}

function isAmount(cell: Cell | undefined): boolean {
  return typeof cell === 'object'
}

function plain(cell: Cell): string {
  return typeof cell === 'string' ? printable(cell) : formatDecimal(cell.units, cell.decimals)
}

function forPeople(cell: Cell): string {
  if (typeof cell === 'string') return printable(cell)
  const number = formatGrouped(cell.units, cell.decimals)
  return cell.unit === undefined ? number : `${number} ${cell.unit}`
}

/** Replaces control characters, so that others' text cannot steer the terminal. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, '?')
}

/** `2026-08-03 10:00:00Z` of an ISO 8601 time; `none` for null. */
export function shownTime(time: string | null): string {
  return time === null ? 'none' : time.replace('T', ' ').replace(/\.\d+Z$/, 'Z')
}
