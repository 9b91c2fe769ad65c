import { describe, expect, it } from 'vitest'
import { createTerminal, type Report } from '../../src/terminal/terminal.js'

function started(options: { json?: boolean; quiet?: boolean; isTTY?: boolean }) {
  const texts = { out: '', err: '' }
  const terminal = createTerminal({
    name: 'confidential-trading',
    json: options.json ?? false,
    quiet: options.quiet ?? false,
    out: { isTTY: options.isTTY ?? false, write: (text: string) => (texts.out += text) },
    err: { write: (text: string) => (texts.err += text) },
  })
  return { terminal, texts }
}

const REPORT: Report = {
  json: { amount: '1000000000' },
  blocks: [{ kind: 'fields', fields: [['amount', { units: 1_000_000_000n, decimals: 6, unit: 'USDC' }]] }],
}
const FAILURE = {
  exit: 1,
  ...{ code: 'not-admin', message: 'no\nadmin', remedy: 'ask the admin', requestId: 'r-1' },
  faults: ['KEY: is missing'],
} as const

describe('the terminal', () => {
  it.each([
    ['a person', { isTTY: true }, 'amount  1,000 USDC\n'],
    ['a pipe', {}, 'amount\t1000\n'],
    ['a program', { json: true, isTTY: true }, '{"amount":"1000000000"}\n'],
  ])('shows a result to %s', (_, options, expected) => {
    const { terminal, texts } = started(options)
    terminal.result(REPORT)
    expect(texts).toEqual({ out: expected, err: '' })
  })

  it('tells progress on standard error, and not a word with --quiet', () => {
    const [loud, quiet] = [started({}), started({ quiet: true })]
    for (const { terminal } of [loud, quiet]) terminal.progress('sealed')
    expect(loud.texts).toEqual({ out: '', err: 'sealed\n' })
    expect(quiet.texts).toEqual({ out: '', err: '' })
  })

  it('tells a failure with its code, the request, each fault and the remedy', () => {
    const { terminal, texts } = started({ quiet: true })
    terminal.failure(FAILURE)
    expect(texts).toEqual({
      out: '',
      err: 'confidential-trading: no?admin (not-admin) [request r-1]\n  KEY: is missing\n  ask the admin\n',
    })
  })

  it('tells it to a program as JSON', () => {
    const { terminal, texts } = started({ json: true })
    terminal.failure(FAILURE)
    const { exit: _, ...error } = FAILURE
    expect(JSON.parse(texts.err)).toEqual({ error })
  })
})
