import { styleText } from 'node:util'
import { wordsOf } from './events.js'
import { formatDistance, formatShares, formatTime, formatUsdc } from './format.js'
import type { Shown, Told } from './narration.js'

/** Wide enough for the longest tag in its brackets, so that what happened stands in one column. */
const TAG_WIDTH = 10
/** Wide enough for the longest words that an amount or a version follows, retracted. */
const SAYS_WIDTH = 'retracted: portfolio updated'.length
/** Up to 9,999,999.00; a larger amount moves its own line only. */
const NUMBER_WIDTH = 14
const UNIT_WIDTH = 'shares'.length
const NO_AMOUNT = ''.padEnd(NUMBER_WIDTH + 1 + UNIT_WIDTH)

/** What a style is for. */
type Part = 'time' | 'tag' | 'retracted' | 'reset' | 'amount'
type Paint = (part: Part, text: string) => string

const STYLES = { time: 'dim', tag: 'cyan', retracted: 'yellow', reset: 'red', amount: 'bold' } as const

/** With the terminal's own colours. Whether it has any was asked before. */
const coloured: Paint = (part, text) => styleText(STYLES[part], text, { validateStream: false })
const plain: Paint = (_part, text) => text

/**
 * One line for a person: `2026-08-03T10:00:00Z   [escrow] order opened   1,000.00 USDC    deadline in 1 h`. Columns are
 * aligned; a deadline is told from the line's own time, so that the line stays true.
 */
export function textLine(told: Told, hasColours: boolean): string {
  const paint = hasColours ? coloured : plain
  const start = (tag: string) =>
    `${paint('time', formatTime(told.time))} ${paint('tag', `[${tag}]`.padStart(TAG_WIDTH))} `
  if (told.kind === 'reset') {
    return start('chain') + paint('reset', 'reset: all that was told is void, the chain is told anew')
  }
  const { event, values } = told.narration
  const { tag, says } = wordsOf(event)
  const isRetracted = told.kind === 'retraction'
  const words = isRetracted ? `retracted: ${says}` : says
  const columns = columnsOf(values, told.time, paint)
  const cell = columns.length === 0 ? words : words.padEnd(SAYS_WIDTH)
  return start(tag) + [isRetracted ? paint('retracted', cell) : cell, ...columns].join('  ')
}

/** The amount's column and the others, as far as there are any: no line ends in blanks. */
function columnsOf(values: readonly Shown[], time: bigint, paint: Paint): string[] {
  const amount = values.find(({ name }) => name === 'amount')
  const others = values.filter((value) => value !== amount).map((value) => labelled(value, time))
  if (others.length === 0) return amount === undefined ? [] : [amountColumn(amount, paint, 0)]
  return [amount === undefined ? NO_AMOUNT : amountColumn(amount, paint, UNIT_WIDTH), ...others]
}

/** The number to the right, its unit to the left, so that points and units stand under one another. */
function amountColumn(amount: Shown, paint: Paint, unitWidth: number): string {
  const [number = '', unit = ''] = shownText(amount, 0n).split(' ')
  return `${paint('amount', number.padStart(NUMBER_WIDTH))} ${unit.padEnd(unitWidth)}`
}

function labelled(value: Shown, time: bigint): string {
  return `${value.name} ${shownText(value, time)}`
}

function shownText({ unit, value }: Shown, time: bigint): string {
  switch (unit) {
    case 'USDC':
      return formatUsdc(value)
    case 'shares':
      return formatShares(value)
    case 'time':
      return formatDistance(value, time)
    case 'count':
      return value.toString()
  }
}
