import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { csvOf } from '../../src/cli/csv.js'

/** Reads CSV by RFC 4180, section 2. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [[]]
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y
  while (cell.lastIndex < text.length) {
    const [, quoted, plain = '', end] = cell.exec(text) ?? []
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end === '\r\n') rows.push([])
    if (end === undefined) throw new Error('not CSV')
  }
  return rows.slice(0, -1)
}

describe('CSV', () => {
  it('has a header, and lines that end with CR LF', () => {
    expect(csvOf(['a', 'b'], [['1', '']])).toBe('a,b\r\n1,\r\n')
    expect(csvOf(['a'], [])).toBe('a\r\n')
  })

  it('has amounts as plain numbers, also negative ones', () => {
    const amount = (units: bigint) => ({ units, decimals: 6, unit: 'USDC' })
    expect(csvOf(['a', 'b'], [[amount(1_234_500_000n), amount(-500_000n)]])).toBe('a,b\r\n1234.5,-0.5\r\n')
  })

  it('gives back any text that begins like no formula', () => {
    const anyText = fc.string({ unit: 'grapheme' }).filter((text) => !/^[=+\-@]|\p{Cc}/u.test(text))
    fc.assert(
      fc.property(fc.array(fc.array(anyText, { minLength: 2, maxLength: 2 })), (rows) => {
        expect(parseCsv(csvOf(['x', 'y'], rows))).toEqual([['x', 'y'], ...rows])
      }),
    )
  })

  it.each(['=1+1', '+1', '-1', '@sum', '=cmd|"/c calc"!A1'])('makes a text of the formula %s', (text) => {
    expect(parseCsv(csvOf(['x'], [[text]]))).toEqual([['x'], [`'${text}`]])
  })

  it('replaces control characters, so no cell begins with a tab or a return', () => {
    expect(csvOf(['x'], [['\t=1'], ['\r=1']])).toBe('x\r\n?=1\r\n?=1\r\n')
  })
})
