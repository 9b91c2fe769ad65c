import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { parseBody } from '../../../src/server/http/body.js'
import { Problem } from '../../../src/server/http/errors.js'

function problemOf(action: () => unknown): Problem {
  try {
    action()
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
  throw new Error('expected a problem')
}

describe('parseBody', () => {
  test('names nested places by a dotted path', () => {
    const schema = z.strictObject({ message: z.strictObject({ rows: z.array(z.string()) }) })
    const problem = problemOf(() => parseBody(schema, { message: { rows: ['a', 1] } }))
    expect(problem.extensions.errors).toMatchObject([{ path: 'message.rows.1' }])
  })

  test('names unknown members by names like its own alone: any other may be a secret at the wrong place', () => {
    const schema = z.strictObject({ epk: z.string() })
    const message = (body: object) =>
      problemOf(() => parseBody(schema, { epk: '', ...body })).extensions.errors?.[0]?.message
    expect(message({ maxSpend: 1, AAPL: 2, '12345': 3, [`0x${'ca'.repeat(32)}`]: 4 })).toBe(
      'unknown members: maxSpend',
    )
    expect(message({ ['ca'.repeat(32)]: 1 })).toBe('unknown members')
  })

  test('bounds the list and its messages', () => {
    const rows = problemOf(() => parseBody(z.array(z.string()), Array(1_000).fill(1)))
    expect(rows.extensions.errors).toHaveLength(20)
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => ['x'.repeat(index + 1), 1]))
    const keys = problemOf(() => parseBody(z.strictObject({}), many))
    expect(keys.extensions.errors?.[0]?.message).toHaveLength(200)
  })
})
