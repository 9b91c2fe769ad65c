import { expect, test } from 'vitest'
import { type IdleRow, startBars } from '../../bench/idle.js'
import { verdictOf } from '../../bench/support/figure.js'
import { linesOf } from '../../bench/support/report.js'

const EMPTY: IdleRow = {
  store: 'SQLite',
  stored: 0,
  onChain: 0,
  listeningMs: 900,
  readyMs: 1_000,
  rssMiB: 150,
  heapMiB: 26,
}

function goalsOf(...rows: IdleRow[]): string[] {
  return startBars([EMPTY, ...rows]).map(verdictOf)
}

test.each<[string, Partial<IdleRow>, string[]]>([
  ['is as it was when empty', {}, ['met', 'met', 'met']],
  ['is at the bounds', { readyMs: 5_000, rssMiB: 225, heapMiB: 32.5 }, ['met', 'met', 'met']],
  ['takes long', { readyMs: 5_001 }, ['missed', 'met', 'met']],
  ['keeps pages', { rssMiB: 226 }, ['met', 'missed', 'met']],
  ['keeps objects', { heapMiB: 32.6 }, ['met', 'met', 'missed']],
])('a start that %s', (_what, changes, goals) => {
  expect(goalsOf({ ...EMPTY, stored: 100_000, ...changes })).toEqual(goals)
})

test('memory is judged at the most that is stored, in whatever order it was measured', () => {
  const full = { ...EMPTY, stored: 1_000_000, readyMs: 60_000, heapMiB: 60 }
  expect(goalsOf(full, { ...EMPTY, stored: 100_000, onChain: 100_000 })).toEqual(['met', 'met', 'missed'])
})

test('what the chain has of so many orders is not judged', () => {
  const onChain = { ...EMPTY, stored: 100_000, onChain: 100_000, rssMiB: 400, heapMiB: 60 }
  expect(goalsOf(onChain, { ...EMPTY, stored: 100_000 })).toEqual(['met', 'met', 'met'])
})

test('memory is not judged with one number stored', () => {
  expect(linesOf('', { rows: [], bars: startBars([EMPTY]), notes: [] }).join('\n')).toMatch(
    /RSS near flat: not judged.*\n.*heap near flat: not judged/,
  )
})
