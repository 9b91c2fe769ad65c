import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { API_PATHS } from '../../../src/protocol/api.js'
import { instanceOf } from '../../../src/server/http/errors.js'
import { PROBLEMS } from '../../../src/server/http/problemCodes.js'

describe('PROBLEMS', () => {
  test.each(Object.entries(PROBLEMS))('%s is kebab-case and a client or server error', (code, definition) => {
    expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/)
    expect(definition.status).toBeGreaterThanOrEqual(400)
    expect(definition.status).toBeLessThan(600)
    for (const text of [definition.meaning, definition.cause, definition.remedy]) {
      expect(text).toMatch(/^[A-Z`"].*\.$/)
      expect(text.split('`').length % 2).toBe(1)
    }
  })
})

test('names every path of the API as its instance, and no other text of a caller', () => {
  const id = randomUUID()
  const paths = API_PATHS.filter((path) => path !== '/docs/:file').map((path) =>
    path
      .replace(':runId', id)
      .replace(':address', `0x${'a1'.repeat(20)}`)
      .replace(/:\w+/, `0x${'0b'.repeat(32)}`),
  )
  expect(paths.filter((path) => instanceOf(`${path}?any=1`) !== path)).toEqual([])
  expect(instanceOf('/anything-else')).toBe('')
})
