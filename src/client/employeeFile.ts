import { addressSchema } from '../protocol/address.js'
import type { Hex } from '../protocol/hex.js'
import { CsvError, type CsvRecord, parseCsv } from './csv.js'
import type { CallOptions } from './http.js'
import { createSlices, type Slices } from './slices.js'

/** An employee of a file. What the file leaves out is absent. */
export interface EmployeeRow {
  readonly address: Hex
  readonly name?: string
  readonly canBuy?: boolean
  readonly canSell?: boolean
  /** In the order of the alphabet. */
  readonly restricted?: readonly string[]
  /** The name of a group, in place of rights and restrictions. */
  readonly group?: string
}

/** What a file may name. */
export interface Nameable {
  /** The listed symbols: the enclave refuses a rulebook that restricts another. */
  readonly symbols: readonly string[]
  /** The groups of the rulebook. */
  readonly groups: readonly string[]
}

/** Why a line of the file cannot be imported. */
export interface RowFault {
  /** Null for the file as a whole. */
  readonly line: number | null
  readonly reason: string
}

export interface EmployeeFile {
  /** The good rows, in the file's order. */
  readonly rows: readonly EmployeeRow[]
  readonly faults: readonly RowFault[]
}

const COLUMNS = ['wallet', 'name', 'buy', 'sell', 'restricted', 'group'] as const
type Column = (typeof COLUMNS)[number]
type Cells = Partial<Record<Column, string>>

const YES = ['yes', 'true', '1']
const NO = ['no', 'false', '0']
/** The largest rulebook has some 20,000 employees with rules of their own; those with the default's take no room there. */
const MOST_ROWS = 50_000
/** Room for as many rows. The reader of CSV cannot take a cell of some 9 MB, which an open quote begins. */
const MOST_CHARACTERS = 8 * 2 ** 20
/** Stands for bytes that are not UTF-8. */
const UNREADABLE = '\ufffd'

/** How a ZIP archive begins, such as an `.xlsx` or `.ods` file. `.xls` files and UTF-16 text have zero bytes. */
const [ZIP, ZERO] = ['PK\u0003\u0004', '\u0000']

export const MAX_NAME = 60
/** Printable and in one line, with no space at either end. */
const NAME = /^[^\p{C}\s](?:[^\p{C}]*[^\p{C}\s])?$/u

/**
 * Whether a text may be a person's name.
 * @example if (isName('Ada Lovelace')) console.log('a name')
 */
export function isName(text: string): boolean {
  return text.length <= MAX_NAME && NAME.test(text)
}

/** The reason why a row is bad. */
class RowError extends Error {}

/**
 * Reads a CSV file of employees, whose first line names its columns. Bad rows are named, and none is guessed. Nothing of it is sent.
 * @example const { rows, faults } = await readEmployeeFile(text, { symbols: ['AAPL'], groups: [] })
 */
export async function readEmployeeFile(
  text: string,
  nameable: Nameable,
  { signal }: CallOptions = {},
): Promise<EmployeeFile> {
  if (text.startsWith(ZIP) || text.includes(ZERO)) {
    const reason =
      'This is not a CSV file. In your spreadsheet, save it as “CSV UTF-8”, and choose that file.'
    return { rows: [], faults: [{ line: null, reason }] }
  }
  try {
    if (text.length > MOST_CHARACTERS) throw new RowError('The file is longer than 8 MB.')
    const records = parseCsv(text)
    const columns = columnsOf(records.next().value ?? undefined)
    return await readRows(records, columns, nameable, createSlices(signal))
  } catch (error) {
    if (error instanceof CsvError) {
      const reason = 'A quotation mark is not closed, or text follows it.'
      return { rows: [], faults: [{ line: error.line, reason }] }
    }
    if (error instanceof RowError) return { rows: [], faults: [{ line: 1, reason: error.message }] }
    throw error
  }
}

function columnsOf(head: CsvRecord | undefined): Column[] {
  const expected = `The first line must name the columns: ${COLUMNS.join(', ')}. Only wallet is required.`
  if (head === undefined) throw new RowError(`The file is empty. ${expected}`)
  const columns = head.cells.map((cell) => {
    const column = COLUMNS.find((one) => one === cell.trim().toLowerCase())
    if (column === undefined) throw new RowError(`“${cell.trim()}” is not a column. ${expected}`)
    return column
  })
  if (!columns.includes('wallet')) throw new RowError(expected)
  const twice = columns.find((column, at) => columns.indexOf(column) !== at)
  if (twice !== undefined) throw new RowError(`The column ${twice} appears twice.`)
  return columns
}

async function readRows(
  records: Iterable<CsvRecord>,
  columns: readonly Column[],
  { symbols, groups }: Nameable,
  slices: Slices,
): Promise<EmployeeFile> {
  const known = { symbols: new Set(symbols), groups: new Set(groups) }
  const rows: EmployeeRow[] = []
  const faults: RowFault[] = []
  const lines = new Map<Hex, number>()
  for (const { line, cells } of records) {
    if (rows.length + faults.length === MOST_ROWS) {
      throw new RowError(`The file has more than ${MOST_ROWS} rows.`)
    }
    if (slices.isOver()) await slices.next()
    try {
      if (cells.length !== columns.length) {
        throw new RowError(
          `It has ${cells.length} cells, but the first line names ${columns.length} columns.`,
        )
      }
      const row = rowOf(Object.fromEntries(columns.map((column, at) => [column, cells[at]])), known)
      const earlier = lines.get(row.address)
      if (earlier !== undefined) throw new RowError(`Line ${earlier} has the same wallet.`)
      lines.set(row.address, line)
      rows.push(row)
    } catch (error) {
      if (!(error instanceof RowError)) throw error
      faults.push({ line, reason: error.message })
    }
  }
  if (rows.length + faults.length === 0) faults.push({ line: 2, reason: 'The file has no employees.' })
  return { rows, faults }
}

type Known = Readonly<Record<keyof Nameable, ReadonlySet<string>>>

function rowOf({ wallet = '', name, ...rule }: Cells, known: Known): EmployeeRow {
  const address = addressSchema.safeParse(wallet.trim())
  if (!address.success) {
    throw new RowError(
      /^0x[\da-f]{40}$/i.test(wallet.trim())
        ? `“${wallet.trim()}” has a typo: its capital letters do not match its digits (EIP-55).`
        : `“${wallet.trim()}” is not an address: enter 0x and 40 hex digits.`,
    )
  }
  return {
    address: address.data,
    ...(name === undefined || name.trim() === '' ? {} : { name: nameOf(name.trim()) }),
    ...ruleOf(rule, known),
  }
}

function ruleOf({ buy, sell, restricted, group = '' }: Cells, { symbols, groups }: Known) {
  const named = group.trim()
  if (named === '') {
    return {
      ...(buy === undefined ? {} : { canBuy: flagOf('buy', buy) }),
      ...(sell === undefined ? {} : { canSell: flagOf('sell', sell) }),
      ...(restricted === undefined ? {} : { restricted: symbolsOf(restricted, symbols) }),
    }
  }
  if ([buy, sell, restricted].some((cell) => (cell ?? '').trim() !== '')) {
    throw new RowError(`It names the group “${named}” and rules of its own: leave one of the two empty.`)
  }
  if (!groups.has(named)) throw new RowError(`“${named}” is not a group of the rulebook.`)
  return { group: named }
}

function nameOf(name: string): string {
  if (name.includes(UNREADABLE)) {
    throw new RowError('The name has characters that are not UTF-8. Save the file as “CSV UTF-8”.')
  }
  if (isName(name)) return name
  throw new RowError(`The name is longer than ${MAX_NAME} characters, or has a line break.`)
}

function flagOf(column: Column, cell: string): boolean {
  const value = cell.trim().toLowerCase()
  if (YES.includes(value)) return true
  if (NO.includes(value)) return false
  throw new RowError(`“${cell.trim()}” in the column ${column} is neither yes nor no.`)
}

function symbolsOf(cell: string, symbols: ReadonlySet<string>): string[] {
  const named = cell
    .toUpperCase()
    .split(/[\s,;]+/)
    .filter((symbol) => symbol !== '')
  const unlisted = named.find((symbol) => !symbols.has(symbol))
  if (unlisted !== undefined) throw new RowError(`“${unlisted}” is not a listed symbol.`)
  return [...new Set(named)].sort()
}
