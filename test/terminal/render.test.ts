import { describe, expect, it } from 'vitest'
import { type Block, renderBlocks } from '../../src/terminal/render.js'

const usdc = (units: bigint) => ({ units, decimals: 6, unit: 'USDC' })
const BLOCKS: Block[] = [
  {
    kind: 'fields',
    fields: [
      ['cash', usdc(1_234_567_890_000n)],
      ['version', '12'],
    ],
  },
  {
    kind: 'table',
    head: ['symbol', 'shares'],
    rows: [
      ['AAPL', { units: 4_720_543_806n, decimals: 9 }],
      ['TSLA', { units: 12_345_000_000_000n, decimals: 9 }],
    ],
  },
]

describe('renderBlocks', () => {
  it('aligns for people, with thousands separators and units', () => {
    expect(renderBlocks(BLOCKS, 'people')).toBe(
      [
        'cash     1,234,567.89 USDC',
        'version  12',
        '',
        'symbol       shares',
        'AAPL    4.720543806',
        'TSLA         12,345',
      ].join('\n'),
    )
  })

  it('separates by tabs for programs, with plain numbers and no heads', () => {
    expect(renderBlocks(BLOCKS, 'plain')).toBe(
      ['cash\t1234567.89', 'version\t12', 'AAPL\t4.720543806', 'TSLA\t12345'].join('\n'),
    )
  })

  it.each(['people', 'plain'] as const)('shows nothing of an empty table to %s', (style) => {
    const empty: Block = { kind: 'table', head: ['symbol'], rows: [] }
    expect(renderBlocks([empty, { kind: 'line', cells: ['a', 'b'] }], style)).toMatch(/^a[ \t]+b$/)
  })

  it.each(['people', 'plain'] as const)('lets no text steer the terminal of %s', (style) => {
    const text = renderBlocks([{ kind: 'line', cells: ['red \u001b[31m\u009b\r\n\ttext'] }], style)
    expect(text).toBe('red ?[31m????text')
  })
})
