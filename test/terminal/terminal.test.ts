import { expect, it } from 'vitest'
import { type Block, renderBlocks } from '../../src/terminal/render.js'
import { createTerminal } from '../../src/terminal/terminal.js'

const cash = { units: 1_234_567_890_000n, decimals: 6, unit: 'USDC' }
const shares = (units: bigint) => ({ units, decimals: 9 })
const BLOCKS: Block[] = [
  {
    kind: 'fields',
    fields: [
      ['cash', cash],
      ['version', '12'],
    ],
  },
  {
    ...{ kind: 'table', head: ['symbol', 'shares'] },
    rows: [
      ['AAPL', shares(4_720_543_806n)],
      ['TSLA', shares(12_345_000_000_000n)],
    ],
  },
]
const FOR_PEOPLE = `cash     1,234,567.89 USDC
version  12

symbol       shares
AAPL    4.720543806
TSLA         12,345
`
const PLAIN = 'cash\t1234567.89\nversion\t12\nAAPL\t4.720543806\nTSLA\t12345\n'

it.each([
  ['a person, aligned, with thousands separators and units', { isTTY: true }, FOR_PEOPLE],
  ['a pipe, separated by tabs, with plain numbers and no heads', {}, PLAIN],
  ['a program', { json: true, isTTY: true }, '{"amount":"1000000000"}\n'],
])('the terminal shows a result to %s', (_, options, expected) => {
  const { terminal, texts } = started(options)
  terminal.result({ json: { amount: 1_000_000_000n }, blocks: BLOCKS })
  expect(texts).toEqual({ out: expected, err: '' })
})

it.each(['people', 'plain'] as const)(
  'the terminal of %s shows nothing of an empty table, and no text steers it',
  (style) => {
    const steering = 'red \u001b[31m\u009b\r\n\ttext'
    const blocks: Block[] = [
      { kind: 'table', head: ['symbol'], rows: [] },
      { kind: 'line', cells: [steering, 'b'] },
    ]
    expect(renderBlocks(blocks, style)).toMatch(/^red \?\[31m\?{4}text[ \t]+b$/)
  },
)

function started({ json = false, quiet = false, isTTY = false }) {
  const texts = { out: '', err: '' }
  const terminal = createTerminal({
    ...{ name: 'confidential-trading', json, quiet },
    out: { isTTY, write: (text: string) => (texts.out += text) },
    err: { write: (text: string) => (texts.err += text) },
  })
  return { terminal, texts }
}

it('the terminal tells a failure with its code, the request, each fault and the remedy; to a program as JSON; also with --quiet', () => {
  const told = { code: 'not-admin', message: 'no\nadmin', remedy: 'ask the admin', requestId: 'r-1' }
  const failure = { ...told, faults: ['KEY: is missing'] }
  const expected =
    'confidential-trading: no?admin (not-admin) [request r-1]\n  KEY: is missing\n  ask the admin\n'
  for (const json of [false, true]) {
    const { terminal, texts } = started({ quiet: true, json })
    terminal.progress('sealed')
    terminal.failure({ exit: 1, ...failure })
    expect(texts.err).toBe(json ? `${JSON.stringify({ error: failure })}\n` : expected)
  }
})
