import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import {
  EVENT_NAMES,
  type Narration,
  type NarrationLine,
  type Shown,
  wordsOf,
} from '../../src/server/narrator/events.js'
import { jsonLine, textLine } from '../../src/server/narrator/lines.js'

const SECONDS = { d: 86_400, h: 3_600, min: 60, s: 1 }

/** Reads a line back into its parts. */
function toldBy(line: string): NarrationLine {
  const [, time = '', tag = '', mark, rest = ''] = /^(\S+) +\[(\w+)\] (retracted: )?(.*)$/.exec(line) ?? []
  const unix = BigInt(Date.parse(time) / 1_000)
  const [says, ...shown] = rest.split(/ {2,}/)
  const event = EVENT_NAMES.find((name) => wordsOf(name).says === says && wordsOf(name).tag === tag)
  if (event === undefined) throw new Error(`no event reads like that: ${line}`)
  const narration: Narration = { event, values: shown.map((text) => shownValue(text, unix)) }
  return { kind: mark === undefined ? 'event' : 'retraction', time: unix, narration }
}

function shownValue(text: string, time: bigint): Shown {
  const [, name, rest = ''] = /^(?:(payout|supply|deadline|version) )?(.*)$/.exec(text) ?? []
  if (name === 'version') return { name, unit: 'count', value: BigInt(rest) }
  if (name === 'deadline') {
    const spans = [...rest.matchAll(/(\d+) (d|h|min|s)\b/g)]
    const left = spans.reduce((sum, [, count, unit]) => {
      const seconds = Object.entries(SECONDS).find(([key]) => key === unit)?.[1] ?? 0
      return sum + Number(count) * seconds
    }, 0)
    return { name, unit: 'time', value: time + BigInt(left) }
  }
  const [number = '', unit] = rest.split(' ')
  const [whole = '', fraction = ''] = number.replaceAll(',', '').split('.')
  const decimals = unit === 'USDC' ? 6 : 9
  const value = BigInt(whole + fraction.padEnd(decimals, '0'))
  const named = name === 'payout' || name === 'supply' ? name : 'amount'
  return { name: named, unit: unit === 'USDC' ? 'USDC' : 'shares', value }
}

/** A line without its time. */
const wordsShown = (told: NarrationLine) => (told.kind === 'reset' ? told.kind : told.narration)

async function linesOf(page: string): Promise<string[]> {
  const text = await readFile(new URL(`../../${page}`, import.meta.url), 'utf8')
  return text.split('\n').flatMap((line) => {
    const [, narrated] = /(?:^|│ )(\d{4}-\d\d-\d\dT\S+ +\[\w+\] .*)$/.exec(line) ?? []
    return narrated === undefined ? [] : [narrated]
  })
}

const PAGE = 'docs/operations/every-day.md'

test.each(['docs/sandbox.md', PAGE])(
  'the narration that is shown in %s is what would be printed',
  async (page) => {
    const lines = await linesOf(page)
    expect(lines.length).toBeGreaterThan(2)
    expect(lines.map((line) => textLine(toldBy(line), false))).toEqual(lines)
  },
)

test('the narration that is shown in docs/sandbox.md takes back the very lines that it has told last', async () => {
  const lines = (await linesOf('docs/sandbox.md')).map(toldBy)
  const first = lines.findIndex(({ kind }) => kind === 'retraction')
  const taken = lines.slice(first).filter(({ kind }) => kind === 'retraction')
  const before = lines.slice(first - taken.length, first).toReversed()
  expect(taken.length).toBeGreaterThan(0)
  expect(taken.map(wordsShown)).toEqual(before.map(wordsShown))
})

test(`the narration that is shown as JSON in ${PAGE} is what would be printed of the same event`, async () => {
  const text = await readFile(new URL(`../../${PAGE}`, import.meta.url), 'utf8')
  const [shown] = /^\{"time".*\}$/m.exec(text) ?? []
  const [first = ''] = await linesOf(PAGE)
  expect(shown).toBe(jsonLine(toldBy(first)))
})
