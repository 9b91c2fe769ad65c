import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { csvOf, parseCsv } from '../../src/client/csv.js'

const read = (text: string) => [...parseCsv(text)].map(({ cells }) => cells)

describe('CSV', () => {
  it('has a header, lines that end with CR LF, and amounts as plain numbers, also negative ones', () => {
    const amount = (units: bigint) => ({ units, decimals: 6, unit: 'USDC' })
    expect(csvOf(['a', 'b'], [['1', '']])).toBe('a,b\r\n1,\r\n')
    expect(csvOf(['a', 'b'], [[amount(1_234_500_000n), amount(-500_000n)]])).toBe('a,b\r\n1234.5,-0.5\r\n')
  })

  it('gives back any text that begins like no formula', () => {
    const anyText = fc.string({ unit: 'grapheme' }).filter((text) => !/^[=+\-@＝＋－＠]|\p{Cc}/u.test(text))
    fc.assert(
      fc.property(fc.array(anyText), (texts) => {
        const rows = texts.map((text) => ['1', text])
        expect(read(csvOf(['x', 'y'], rows))).toEqual([['x', 'y'], ...rows])
      }),
    )
  })

  it('keeps a cell whole in a spreadsheet that splits at semicolons', () => {
    expect(csvOf(['x'], [['a;=1']])).toBe('x\r\n"a;=1"\r\n')
  })

  it.each(['=1+1', '+1', '-1', '@sum', '＝1+1', '=cmd|"/c calc"!A1'])(
    'makes a text of the formula %s',
    (text) => {
      expect(read(csvOf(['x'], [[text]]))).toEqual([['x'], [`'${text}`]])
    },
  )

  it('replaces control characters, so no cell begins with a tab or a return', () => {
    expect(csvOf(['x'], [['\t=1'], ['\r=1']])).toBe('x\r\n?=1\r\n?=1\r\n')
  })
})
