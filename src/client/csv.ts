import { formatDecimal } from '../protocol/units.js'

/** A record of a CSV file. */
export interface CsvRecord {
  /** The line where it begins, from 1. */
  readonly line: number
  readonly cells: readonly string[]
}

/** A file that is no CSV. */
export class CsvError extends Error {
  override readonly name = 'CsvError'

  constructor(readonly line: number) {
    super(`a quote of line ${line} does not end, or text follows it`)
  }
}

/** One cell and what ends it: a separator, a line's end, or the text's. */
const CELLS = {
  ',': /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|\n|\r|$)/y,
  ';': /(?:"((?:[^"]|"")*)"|([^";\r\n]*))(;|\r\n|\n|\r|$)/y,
  '\t': /(?:"((?:[^"]|"")*)"|([^"\t\r\n]*))(\t|\r\n|\n|\r|$)/y,
}

/**
 * The records of CSV by RFC 4180, without empty lines. Separated by commas, or by the semicolons or tabs that
 * spreadsheets write: the first line's separator counts.
 * @throws CsvError
 */
export function* parseCsv(text: string): Generator<CsvRecord, void, undefined> {
  const separator = /[,;\t]/.exec(text.split(/[\r\n]/, 1)[0] ?? '')?.[0]
  const cell = new RegExp(CELLS[separator === ';' || separator === '\t' ? separator : ','])
  let cells: string[] = []
  let [line, begun] = [1, 1]
  for (let at = text.startsWith('\ufeff') ? 1 : 0; ; at = cell.lastIndex) {
    cell.lastIndex = at
    const found = cell.exec(text)
    if (found === null) throw new CsvError(line)
    const [whole, quoted, plain = '', end] = found
    cells.push(quoted?.replaceAll('""', '"') ?? plain)
    line += whole.match(/\r\n|\n|\r/g)?.length ?? 0
    if (end === separator && end !== undefined) continue
    if (cells.some((one) => one.trim() !== '')) yield { line: begun, cells }
    if (end === '') return
    cells = []
    begun = line
  }
}

/** A text, or an amount in base units. */
export type CsvCell = string | { readonly units: bigint; readonly decimals: number }

/**
 * CSV by RFC 4180: a header, lines that end with CR LF, and quotes around cells that need them, also where semicolons separate. Amounts
 * are plain decimal numbers without separators or units. A text that a spreadsheet would evaluate gets an apostrophe in front.
 * @example const csv = csvOf(['symbol', 'shares'], [['AAPL', { units: 1_500_000_000n, decimals: SHARE_DECIMALS }]])
 */
export function csvOf(head: readonly string[], rows: readonly (readonly CsvCell[])[]): string {
  return [head, ...rows].map((row) => `${row.map(csvCell).join(',')}\r\n`).join('')
}

function csvCell(cell: CsvCell): string {
  if (typeof cell !== 'string') return formatDecimal(cell.units, cell.decimals)
  const text = unlikeFormula(cell.replace(/\p{Cc}/gu, '?'))
  return /[",;]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A spreadsheet evaluates a text that begins like a formula, also in full width; an apostrophe before it makes it a text. */
function unlikeFormula(text: string): string {
  return /^[=+\-@＝＋－＠]/.test(text) ? `'${text}` : text
}
