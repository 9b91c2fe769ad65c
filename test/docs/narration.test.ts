import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { EVENT_NAMES, wordsOf } from '../../src/server/narrator/events.js'

const told = EVENT_NAMES.map(wordsOf).map(({ tag, says }) => `[${tag}] ${says}`)
const LINE = /(?:^|│ )\d{4}-\d\d-\d\dT\S+ +(\[\w+\]) (?:retracted: )?(.*?)(?: {2,}.*)?$/gm

test.each(['docs/sandbox.md', 'docs/operations/every-day.md'])(
  'the narration that is shown in %s has the words of events',
  (page) => {
    const shown = [...readFileSync(page, 'utf8').matchAll(LINE)].map(([, tag, says]) => `${tag} ${says}`)
    expect(shown.length).toBeGreaterThan(2)
    expect(shown.filter((words) => !told.includes(words))).toEqual([])
  },
)
