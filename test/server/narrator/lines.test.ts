import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { EVENT_NAMES, type NarrationLine, type Shown, wordsOf } from '../../../src/server/narrator/events.js'
import { createPrinter, formatUsdc, jsonLine, textLine } from '../../../src/server/narrator/lines.js'

const at = (clock: string) => BigInt(Date.parse(`2026-08-03T${clock}Z`) / 1_000)
const told = (clock: string, event: string, ...values: Shown[]) =>
  ({ kind: 'event', time: at(clock), narration: { event, values } }) as const
const amount = (unit: 'USDC' | 'shares', value: bigint): Shown => ({ name: 'amount', unit, value })
const version = (value: bigint): Shown => ({ name: 'version', unit: 'count', value })
const OPENED = told('10:00:00', 'OrderOpened', amount('USDC', 1_000_000_000n), {
  ...{ name: 'deadline', unit: 'time', value: at('10:00:00') + 86_400n },
})
/** Those on the operators' page. */
const DOCUMENTED: [line: NarrationLine, text: string, json: string][] = [
  [
    OPENED,
    '2026-08-03T10:00:00Z [escrow] order opened  1,000.00 USDC  deadline 2026-08-04T10:00:00Z',
    '{"time":"2026-08-03T10:00:00Z","kind":"event","contract":"escrow","event":"OrderOpened","amount":"1000000000","amountUnit":"USDC","deadline":"2026-08-04T10:00:00Z"}',
  ],
  [
    told('10:00:12', 'PortfolioUpdated', version(1n)),
    '2026-08-03T10:00:12Z [ledger] portfolio updated  version 1',
    '{"time":"2026-08-03T10:00:12Z","kind":"event","contract":"ledger","event":"PortfolioUpdated","version":"1"}',
  ],
  [
    told('10:00:31', 'OrderSettled', amount('USDC', 1_000_000_000n), {
      ...{ name: 'payout', unit: 'shares', value: 1_500_000_000n },
    }),
    '2026-08-03T10:00:31Z [escrow] order settled  1,000.00 USDC  payout 1.500000000 shares',
    '{"time":"2026-08-03T10:00:31Z","kind":"event","contract":"escrow","event":"OrderSettled","amount":"1000000000","amountUnit":"USDC","payout":"1500000000","payoutUnit":"shares"}',
  ],
  [
    told('20:00:03', 'BatchMinted', amount('shares', 5_000_000_000n), {
      ...{ name: 'supply', unit: 'shares', value: 105_000_000_000n },
    }),
    '2026-08-03T20:00:03Z [pool] batch minted  5.000000000 shares  supply 105.000000000 shares',
    '{"time":"2026-08-03T20:00:03Z","kind":"event","contract":"pool","event":"BatchMinted","amount":"5000000000","amountUnit":"shares","supply":"105000000000"}',
  ],
]

const OTHERS: typeof DOCUMENTED = [
  [
    { ...told('10:00:00', 'PortfolioUpdated', version(12n)), kind: 'retraction' },
    '2026-08-03T10:00:00Z [ledger] retracted: portfolio updated  version 12',
    '{"time":"2026-08-03T10:00:00Z","kind":"retraction","contract":"ledger","event":"PortfolioUpdated","version":"12"}',
  ],
  [
    { kind: 'reset', time: at('10:00:00') },
    '2026-08-03T10:00:00Z [chain] reset: all earlier lines are void, the chain is narrated anew',
    '{"time":"2026-08-03T10:00:00Z","kind":"reset"}',
  ],
]

test('a narrated line is text for a person, and JSON for a program', () => {
  const all = [...DOCUMENTED, ...OTHERS]
  expect(all.map(([line]) => [textLine(line), jsonLine(line)])).toEqual(all.map(([, ...forms]) => forms))
})

test('the operators’ page shows narration as it is printed', () => {
  const page = readFileSync('docs/operations/every-day.md', 'utf8')
  expect(page).toContain(`\n${DOCUMENTED.map(([, text]) => text).join('\n')}\n`)
  expect(page).toContain(`\n${DOCUMENTED[0]?.[2]}\n`)
})

test('the sandbox’s page shows narrated events by their words', () => {
  const lines = readFileSync('docs/sandbox.md', 'utf8').match(/^\d{4}-\d\d-\d\dT\S+ \[.*$/gm) ?? []
  const known = EVENT_NAMES.map(wordsOf).map(({ tag, says }) => `[${tag}] ${says}`)
  expect(lines.length).toBeGreaterThan(2)
  const shown = lines.map((line) => line.slice(21).replace('retracted: ', '').split('  ')[0])
  expect(shown.filter((words) => !known.includes(words ?? ''))).toEqual([])
})

test.each([
  [0n, '0.00 USDC'],
  [1n, '0.000001 USDC'],
  [1_234_567_890_120n, '1,234,567.89012 USDC'],
  [2n ** 128n, '340,282,366,920,938,463,463,374,607,431,768.211456 USDC'],
])('an amount of %s base units is shown to its last digit', (units, text) => {
  expect(formatUsdc(units)).toBe(text)
})

test.each([
  ['a terminal', true, 'auto', textLine],
  ['a pipe', false, 'auto', jsonLine],
  ['a pipe, as asked', false, 'text', textLine],
  ['a terminal, as asked', true, 'json', jsonLine],
] as const)('the narration’s format suits %s', async (_name, isTTY, format, lineOf) => {
  const written: string[] = []
  const write = (part: string, done: () => void) => {
    written.push(part)
    done()
  }
  await createPrinter({ isTTY, write }, format)([OPENED, OPENED], new AbortController().signal)
  // Both in one write.
  expect(written).toEqual([`${lineOf(OPENED)}\n${lineOf(OPENED)}\n`])
})

test('narrated lines stay whole beside the log on one pipe: one write after another, none longer than a pipe takes', async () => {
  const written: string[] = []
  let done = () => {}
  const write = (part: string, next: () => void) => {
    written.push(part)
    done = next
  }
  const lines = Array.from({ length: 200 }, () => OPENED)
  const printing = createPrinter({ write }, 'json')(lines, new AbortController().signal)
  for (let writes = 1; written.join('').split('\n').length <= lines.length; writes++) {
    expect(written).toHaveLength(writes)
    done()
    await new Promise(setImmediate)
  }
  done()
  await printing
  expect(written.filter((part) => part.length > 4_096 || !part.endsWith('}\n'))).toEqual([])
})

test('printing waits for a reader, but not once the server stops', async () => {
  const stopping = new AbortController()
  let [writes, isOver] = [0, false]
  const printing = createPrinter(
    { write: () => writes++ },
    'json',
    1,
  )([OPENED], stopping.signal).then(() => {
    isOver = true
  })
  await new Promise(setImmediate)
  expect([writes, isOver]).toEqual([1, false])
  stopping.abort()
  await printing
})
