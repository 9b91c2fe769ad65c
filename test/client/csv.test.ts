import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { csvOf, parseCsv } from '../../src/client/csv.js'

const usdc = (units: bigint) => ({ units, decimals: 6, unit: 'USDC' })
const cellsOf = (text: string) => [...parseCsv(text)].map(({ cells }) => cells)

describe('CSV', () => {
  it.each([
    ['a,b\r\n1,2\r\n', 'a|b 1|2'],
    ['a,b\n1,2', 'a|b 1|2'],
    ['a;b\r1;2', 'a|b 1|2'],
    ['a\tb\n1,5\t2', 'a|b 1,5|2'],
    ['\ufeffa,b\n1,2', 'a|b 1|2'],
    ['a,b\n"1,""one""","2\n3"\n', 'a|b 1,"one"|2\n3'],
    ['a,b\n\n , \n,\n1,\n', 'a|b 1|'],
    ['', ''],
  ])('%j', (text, rows) => {
    const found = cellsOf(text).map((cells) => cells.join('|'))
    expect(found.join(' ')).toBe(rows)
  })

  it('names the line where a record begins', () => {
    const lines = [...parseCsv('a,b\r\n"x\r\ny",2\r\n\r\n3,4\n')].map(({ line }) => line)
    expect(lines).toEqual([1, 2, 5])
  })

  it.each([
    ['a,b\n1,"2', 2],
    ['a,b\n1,2"', 2],
    ['a,b\n"1\n"x,2', 2],
    ['"a', 1],
  ])('%j is refused in its line', (text, line) => {
    expect(() => [...parseCsv(text)]).toThrow(expect.objectContaining({ name: 'CsvError', line }))
  })

  it('reads what is written by RFC 4180', () => {
    const cell = fc.string().map((text) => text.replaceAll('\0', ''))
    const table = fc.array(fc.tuple(cell, cell), { minLength: 1 })
    fc.assert(
      fc.property(table, (rows) => {
        const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
        const text = ['a,b', ...rows.map((row) => row.map(quoted).join(','))].join('\r\n')
        const full = rows.filter((row) => row.some((one) => one.trim() !== ''))
        expect(cellsOf(text)).toEqual([['a', 'b'], ...full])
      }),
    )
  })

  it.each([
    ['has a header, and lines that end with CR LF', ['1', ''], '1,'],
    [
      'has amounts as plain numbers, also negative ones',
      [usdc(1_234_500_000n), usdc(-500_000n)],
      '1234.5,-0.5',
    ],
    ['keeps a cell whole in a spreadsheet that splits at semicolons', ['a;=1', ''], '"a;=1",'],
    ['replaces control characters, so no cell begins with a tab or a return', ['\t=1', '\r=1'], '?=1,?=1'],
  ])('%s', (_what, cells, line) => {
    expect(csvOf(['a', 'b'], [cells])).toBe(`a,b\r\n${line}\r\n`)
  })

  it('gives back any text that begins like no formula', () => {
    const anyText = fc.string({ unit: 'grapheme' }).filter((text) => !/^[=+\-@＝＋－＠]|\p{Cc}/u.test(text))
    fc.assert(
      fc.property(fc.array(anyText), (texts) => {
        const rows = texts.map((text) => ['1', text])
        expect(cellsOf(csvOf(['x', 'y'], rows))).toEqual([['x', 'y'], ...rows])
      }),
    )
  })

  const formulas = ['=1+1', '+1', '-1', '@sum', '＝1+1', '=cmd|"/c calc"!A1']
  it.each(formulas)('makes a text of the formula %s', (text) => {
    expect(cellsOf(csvOf(['x'], [[text]]))).toEqual([['x'], [`'${text}`]])
  })
})
