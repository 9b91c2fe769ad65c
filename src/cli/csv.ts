import { formatDecimal } from '../protocol/units.js'
import { type Cell, printable } from '../terminal/render.js'

/**
 * CSV by RFC 4180: a header, lines that end with CR LF, and quotes around cells that need them. Amounts are plain decimal
 * numbers without separators or units.
 */
export function csvOf(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [head, ...rows].map((row) => `${row.map(csvCell).join(',')}\r\n`).join('')
}

function csvCell(cell: Cell): string {
  if (typeof cell !== 'string') return formatDecimal(cell.units, cell.decimals)
  const text = unlikeFormula(printable(cell))
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A spreadsheet evaluates a text that begins like a formula; an apostrophe before it makes it a text. */
function unlikeFormula(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
}
