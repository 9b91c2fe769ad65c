import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { postOrderSchema } from '../../../src/protocol/api.js'
import { bytes32Schema } from '../../../src/protocol/hex.js'
import { parseBody, parseParam } from '../../../src/server/http/body.js'
import { Problem } from '../../../src/server/http/errors.js'

const order = {
  orderId: `0x${'AB'.repeat(32)}`,
  epk: '0x0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798',
  iv: `0x${'01'.repeat(12)}`,
  ct: '0x00',
  tag: `0x${'02'.repeat(16)}`,
}

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
  test('gives the parsed body, hex in lower case', () => {
    expect(parseBody(postOrderSchema, order)).toEqual({ ...order, orderId: `0x${'ab'.repeat(32)}` })
  })

  test.each<[string, object, string]>([
    ['a point off the curve', { epk: `0x02${'ff'.repeat(32)}` }, 'epk'],
    ['a short iv', { iv: '0x01' }, 'iv'],
    ['an odd digit', { tag: '0x0' }, 'tag'],
    ['no 0x', { orderId: 'ab'.repeat(32) }, 'orderId'],
    ['an empty ct', { ct: '0x' }, 'ct'],
    ['a long ct', { ct: `0x${'00'.repeat(4_097)}` }, 'ct'],
    ['a number', { iv: 1 }, 'iv'],
    ['nothing', { tag: undefined }, 'tag'],
  ])('refuses %s and says where', (_what, change, path) => {
    const problem = problemOf(() => parseBody(postOrderSchema, { ...order, ...change }))
    expect(problem.code).toBe('invalid-body')
    expect(problem.extensions.errors?.map((error) => error.path)).toContain(path)
  })

  test.each([null, [], 'text', 7, { ...order, extra: 1 }])('refuses %j', (body) => {
    expect(problemOf(() => parseBody(postOrderSchema, body)).code).toBe('invalid-body')
  })

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

describe('parseParam', () => {
  test('gives the parsed value or names the parameter', () => {
    expect(parseParam(bytes32Schema, 'orderId', order.orderId)).toBe(`0x${'ab'.repeat(32)}`)
    const problem = problemOf(() => parseParam(bytes32Schema, 'orderId', '0x12'))
    expect(problem.code).toBe('invalid-parameter')
    expect(problem.extensions.errors).toEqual([{ path: 'orderId', message: 'expected 0x and 64 hex digits' }])
  })
})
