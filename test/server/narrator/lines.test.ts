import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test, vi } from 'vitest'
import type { Narration, NarrationLine } from '../../../src/server/narrator/events.js'
import {
  createPrinter,
  formatDistance,
  jsonLine,
  type NarratorOutput,
  textLine,
} from '../../../src/server/narrator/lines.js'

const TIME = 1_785_751_200n
const DAY = 86_400n

const OPENED: Narration = {
  event: 'OrderOpened',
  values: [
    { name: 'amount', unit: 'USDC', value: 1_234_567_890_000n },
    { name: 'deadline', unit: 'time', value: TIME + 2n * DAY + 3_600n },
  ],
}
const SETTLED: Narration = {
  event: 'OrderSettled',
  values: [
    { name: 'amount', unit: 'USDC', value: 1_000_000_000n },
    { name: 'payout', unit: 'shares', value: 1_500_000_000n },
  ],
}
const MINTED: Narration = {
  event: 'BatchMinted',
  values: [
    { name: 'amount', unit: 'shares', value: 5_000_000_000n },
    { name: 'supply', unit: 'shares', value: 1_105_000_000_000n },
  ],
}
const REGISTERED: Narration = { event: 'InstitutionRegistered', values: [] }

const event = (narration: Narration): NarrationLine => ({ kind: 'event', time: TIME, narration })
const retraction = (narration: Narration): NarrationLine => ({ kind: 'retraction', time: TIME, narration })
const RESET: NarrationLine = { kind: 'reset', time: TIME }
const ALL = [...[REGISTERED, OPENED, SETTLED, MINTED].map(event), retraction(OPENED), RESET]

const TEXT = [
  '2026-08-03T10:00:00Z [registry] institution registered',
  '2026-08-03T10:00:00Z   [escrow] order opened                    1,234,567.89 USDC    deadline in 2 d 1 h',
  '2026-08-03T10:00:00Z   [escrow] order settled                       1,000.00 USDC    payout 1.500000000 shares',
  '2026-08-03T10:00:00Z     [pool] batch minted                     5.000000000 shares  supply 1,105.000000000 shares',
  '2026-08-03T10:00:00Z   [escrow] retracted: order opened         1,234,567.89 USDC    deadline in 2 d 1 h',
  '2026-08-03T10:00:00Z    [chain] reset: all earlier lines are void, the chain is narrated anew',
]

describe('lines for a person', () => {
  test('stand in columns, with grouped amounts and the time that is left', () => {
    expect(ALL.map((told) => textLine(told, false))).toEqual(TEXT)
  })

  test('are the same in colour, with the colours outside of the columns', () => {
    const coloured = ALL.map((told) => textLine(told, true))
    expect(coloured.map(stripVTControlCharacters)).toEqual(TEXT)
    expect(coloured[1]).toContain('\u001B[36m  [escrow]\u001B[39m')
    for (const line of coloured) {
      expect(line.startsWith('\u001B[2m2026-08-03T10:00:00Z\u001B[22m ')).toBe(true)
    }
    // A line that takes something back looks different from one that tells it.
    expect(coloured[4]).toContain('\u001B[33mretracted: order opened')
    expect(coloured[5]).toContain('\u001B[31mreset:')
  })
})

const JSON_LINES = [
  '"kind":"event","contract":"registry","event":"InstitutionRegistered"}',
  '"kind":"event","contract":"escrow","event":"OrderOpened","amount":"1234567890000","amountUnit":"USDC","deadline":"2026-08-05T11:00:00Z"}',
  '"kind":"event","contract":"escrow","event":"OrderSettled","amount":"1000000000","amountUnit":"USDC","payout":"1500000000","payoutUnit":"shares"}',
  '"kind":"event","contract":"pool","event":"BatchMinted","amount":"5000000000","amountUnit":"shares","supply":"1105000000000"}',
  '"kind":"retraction","contract":"escrow","event":"OrderOpened","amount":"1234567890000","amountUnit":"USDC","deadline":"2026-08-05T11:00:00Z"}',
  '"kind":"reset"}',
]

test('lines for a program have base units, and times as ISO 8601', () => {
  expect(ALL.map(jsonLine)).toEqual(JSON_LINES.map((rest) => `{"time":"2026-08-03T10:00:00Z",${rest}`))
})

test.each([
  [0n, 'now'],
  [59n, 'in 59 s'],
  [60n, 'in 1 min'],
  [3_599n, 'in 59 min 59 s'],
  [3_605n, 'in 1 h'],
  [90_000n, 'in 1 d 1 h'],
  [30n * DAY - 1n, 'in 29 d 23 h'],
  [-300n, '5 min ago'],
  [-86_399n, '23 h 59 min ago'],
])('a time that is %s s away is shown in its two largest units', (seconds, text) => {
  expect(formatDistance(TIME + seconds, TIME)).toBe(text)
})

const terminal = { isTTY: true, hasColors: () => true }
const colour = (told: NarrationLine) => textLine(told, true)
const text = (told: NarrationLine) => textLine(told, false)
test.each<[string, Omit<NarratorOutput, 'write'>, 'auto' | 'text' | 'json', boolean, typeof text]>([
  ['a terminal', terminal, 'auto', true, colour],
  ['a terminal, by NO_COLOR', terminal, 'auto', false, text],
  ['a terminal without colours', { isTTY: true, hasColors: () => false }, 'auto', true, text],
  ['a pipe', {}, 'auto', true, jsonLine],
  ['a pipe that says it has colours', { hasColors: () => true }, 'text', true, text],
  ['a terminal, as asked', terminal, 'json', true, jsonLine],
])('the format suits %s', async (_name, output, format, mayColour, line) => {
  const written: string[] = []
  const write = (part: string, done: () => void) => {
    written.push(part)
    done()
  }
  const print = createPrinter({ ...output, write }, { format, mayColour })
  await print([event(OPENED), event(MINTED)], new AbortController().signal)
  expect(written).toEqual([`${line(event(OPENED))}\n`, `${line(event(MINTED))}\n`])
})

const settings = { format: 'json', mayColour: false } as const
const many = Array.from({ length: 200 }, () => event(OPENED))

test('the printer writes one line after another and waits for their reader, but not once the server stops', async () => {
  const stopping = new AbortController()
  let writes = 0
  const print = createPrinter({ write: () => writes++ }, settings, 1)
  const ended = vi.fn()
  const printing = print(many, stopping.signal).then(ended)
  await new Promise(setImmediate)
  expect([writes, ended.mock.calls]).toEqual([1, []])
  stopping.abort()
  await printing
})
