// A statement as files: for people (PDF), for spreadsheets (CSV), and for tax software (CSV by the columns of Form 8949).
import type { Hex } from '../../protocol/hex.js'
import { formatDecimal, formatGrouped, SHARE_DECIMALS, USDC_DECIMALS } from '../../protocol/units.js'
import { type CsvCell, csvOf } from '../csv.js'
import { cashWords } from './entries.js'
import type { Disposal } from './lots.js'
import { LINE_CHARACTERS, type PdfLine, pdfOf } from './pdf.js'
import type { Statement, StatementBalance, StatementLine } from './statement.js'

export type StatementFormat = 'pdf' | 'csv' | 'tax'

/**
 * The bytes of a statement's file.
 * @param account the wallet's address, which the PDF names
 * @example const pdf = statementFile(statementOf(entries, { name: '2026', from: 0, to: 1 }, 2), 'pdf', account)
 */
export function statementFile(
  statement: Statement,
  format: StatementFormat,
  account: Hex,
): Uint8Array<ArrayBuffer> {
  if (format === 'pdf') return pdfOf(titleOf(statement), pdfLines(statement, account))
  return new TextEncoder().encode(format === 'csv' ? linesCsv(statement) : taxCsv(statement))
}

const usdc = (units: bigint | null): CsvCell => (units === null ? '' : { units, decimals: USDC_DECIMALS })
const shares = (units: bigint | null): CsvCell => (units === null ? '' : { units, decimals: SHARE_DECIMALS })

/** ISO 8601 in UTC, of Unix seconds. */
const timeOf = (seconds: number) => new Date(seconds * 1_000).toISOString().replace('.000Z', 'Z')
const dayOf = (seconds: number) => timeOf(seconds).slice(0, 10)

/** What makes a statement less than whole. Each file has it, so that none passes for a whole one. */
function remarksOf({ until, isFinal, isComplete }: Statement): string[] {
  return [
    ...(isFinal ? [] : [`Preliminary: after ${timeOf(until)} events are missing or may change.`]),
    ...(isComplete ? [] : ['Incomplete: parts of the portfolio could not be read.']),
  ]
}

const LINE_HEAD = [
  'time (settled)',
  'event',
  'symbol',
  'shares',
  'price',
  'amount',
  'cash change',
  'cash after',
] as const

function linesCsv(statement: Statement): string {
  const { opening, lines } = statement
  let { cash } = opening
  const rows = lines.map(({ timestamp, event, symbol, ...line }) => {
    cash += line.cash
    const amounts = [line.price, line.amount, line.cash, cash].map(usdc)
    return [timeOf(timestamp), event, symbol ?? '', shares(line.shares), ...amounts]
  })
  const remarks = remarksOf(statement).map((remark) =>
    LINE_HEAD.map((head) => (head === 'event' ? remark : '')),
  )
  return csvOf(LINE_HEAD, [...rows, ...remarks])
}

const TAX_HEAD = [
  ...['Description of property', 'Date acquired (settled)', 'Date sold or disposed of (settled)', 'Proceeds'],
  ...['Cost or other basis', 'Gain or loss', 'Symbol', 'Shares', 'Transaction'],
] as const

/** A line for each disposal, by the columns of Form 8949. Empty where the purchase is unknown. */
function taxCsv(statement: Statement): string {
  const rows = statement.disposals.map((disposal) => {
    const { symbol, acquiredAt, disposedAt, proceeds, cost, txHash } = disposal
    const dates = [acquiredAt === null ? '' : formDate(acquiredAt), formDate(disposedAt)]
    const amounts = [usdc(proceeds), usdc(cost), usdc(cost === null ? null : proceeds - cost)]
    return [propertyOf(disposal), ...dates, ...amounts, symbol, shares(disposal.shares), txHash]
  })
  const remarks = remarksOf(statement).map((remark) => TAX_HEAD.map((_, at) => (at === 0 ? remark : '')))
  return csvOf(TAX_HEAD, [...rows, ...remarks])
}

function propertyOf({ symbol, shares: units, paidFor }: Disposal): string {
  if (units !== null) return `${formatDecimal(units, SHARE_DECIMALS)} sh. ${symbol}`
  return paidFor === null ? symbol : `${symbol}, ${cashWords(paidFor)}`
}

/** As the form has it: `11/28/2026`. */
function formDate(seconds: number): string {
  const [year, month, day] = dayOf(seconds).split('-')
  return `${month}/${day}/${year}`
}

const titleOf = ({ period }: Statement) => `Account statement ${period.name}`

function pdfLines(statement: Statement, account: Hex): PdfLine[] {
  const { period, opening, closing, lines, disposals, gain, dividends } = statement
  const bold = (text: string): PdfLine => ({ text, isBold: true })
  const plain = (text: string): PdfLine => ({ text })
  const section = (name: string, rows: readonly PdfLine[]) =>
    rows.length === 0 ? [] : [plain(''), bold(name), ...rows]
  return [
    bold(titleOf(statement)),
    plain(`Account ${account}`),
    plain(`${dayOf(period.from)} to ${dayOf(period.to - 1)} (UTC). Amounts in USDC; sales net of fees.`),
    plain('A trade has the date of its settlement on chain, which may be later than that at the broker.'),
    ...(gain === null ? [plain(UNKNOWN_GAIN)] : []),
    ...remarksOf(statement).map(plain),
    ...section('Opening balance', balanceLines(opening)),
    ...section('Activity', lines.length === 0 ? [] : [bold(ACTIVITY_HEAD), ...lines.flatMap(activityLines)]),
    ...section(
      'Realised gains, first in, first out',
      disposals.length === 0 ? [] : [bold(GAINS_HEAD), ...disposals.flatMap(gainLines)],
    ),
    ...section('Totals', [
      plain(
        columns([
          ['Realised gain', 30],
          [gain === null ? 'unknown' : amountText(gain), -20],
        ]),
      ),
      plain(
        columns([
          ['Dividends, net of withholding', 30],
          [amountText(dividends), -20],
        ]),
      ),
    ]),
    ...section('Closing balance', balanceLines(closing)),
  ]
}

const amountText = (units: bigint) =>
  units < 0n ? `-${formatGrouped(-units, USDC_DECIMALS, 2)}` : formatGrouped(units, USDC_DECIMALS, 2)
const sharesText = (units: bigint) =>
  units < 0n ? `-${formatGrouped(-units, SHARE_DECIMALS)}` : formatGrouped(units, SHARE_DECIMALS)
const orNothing = (units: bigint | null, text: (units: bigint) => string) =>
  units === null ? '' : text(units)

function balanceLines({ cash, positions }: StatementBalance): PdfLine[] {
  const held = Object.entries(positions).sort(([one], [other]) => one.localeCompare(other))
  return [
    {
      text: columns([
        ['Cash', 30],
        [amountText(cash), -20],
      ]),
    },
    ...held.map(([symbol, units]) => ({
      text: columns([
        [symbol, 30],
        [sharesText(units), -20],
      ]),
    })),
  ]
}

/** A cell and its width, negative for the right side. */
type Column = readonly [text: string, width: number]

/** A text that is too long for its column pushes the others to the right, and is never cut. */
function columns(cells: readonly Column[]): string {
  return cells
    .map(([text, width]) => (width < 0 ? text.padStart(-width) : text.padEnd(width)))
    .join(' ')
    .trimEnd()
}

const ACTIVITY = [10, 18, 6, -17, -12, -14, -14] as const
const GAINS = [6, 10, 10, -17, -14, -14, -14] as const
const row = (widths: readonly number[], texts: readonly string[]) =>
  columns(texts.map((text, at): Column => [text, widths[at] ?? 0]))
const ACTIVITY_HEAD = row(ACTIVITY, ['Date', 'Event', 'Symbol', 'Shares', 'Price', 'Amount', 'Cash change'])
const GAINS_HEAD = row(GAINS, ['Symbol', 'Acquired', 'Disposed', 'Shares', 'Proceeds', 'Cost', 'Gain'])
const UNKNOWN_GAIN =
  'The gain is unknown: a cost is, of shares that came from a wallet or of cash for a part of the shares.'

/** Its amounts stand on a line of their own where a long name would push them off the page. */
function rowLines(widths: readonly number[], texts: readonly string[]): PdfLine[] {
  const line = row(widths, texts)
  if (line.length <= LINE_CHARACTERS) return [{ text: line }]
  const isAmount = (at: number) => (widths[at] ?? 0) < 0
  const parts = [false, true].map((amounts) =>
    texts.map((text, at) => (isAmount(at) === amounts ? text : '')),
  )
  return parts.map((part) => ({ text: row(widths, part) }))
}

function activityLines({ timestamp, event, symbol, price, amount, cash, ...line }: StatementLine) {
  const amounts = [orNothing(price, amountText), orNothing(amount, amountText), amountText(cash)]
  return rowLines(ACTIVITY, [
    ...[dayOf(timestamp), event, symbol ?? '', orNothing(line.shares, sharesText)],
    ...amounts,
  ])
}

function gainLines({ symbol, acquiredAt, disposedAt, proceeds, cost, ...lot }: Disposal) {
  const gain = cost === null ? null : proceeds - cost
  const amounts = [amountText(proceeds), orNothing(cost, amountText), orNothing(gain, amountText)]
  const dates = [acquiredAt === null ? 'unknown' : dayOf(acquiredAt), dayOf(disposedAt)]
  return rowLines(GAINS, [symbol, ...dates, orNothing(lot.shares, sharesText), ...amounts])
}
