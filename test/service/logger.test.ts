import { describe, expect, test } from 'vitest'
import { describeError } from '../../src/service/logger.js'
import { createLogLines } from '../support/logLines.js'

describe('createLogger', () => {
  test('drops what has no field, and what is no plain value', () => {
    const log = createLogLines()
    const careless: object = {
      requestId: 'r1',
      body: 'canary',
      err: new Error('canary'),
      authorization: 'canary',
      orderId: { toString: () => 'canary', toJSON: () => 'canary' },
      code: ['canary'],
      count: 7n,
    }
    log.logger.info('request', careless)
    log.logger.info('request', { ...careless })
    expect(log.text()).not.toContain('canary')
    expect(log.lines()[0]).toMatchObject({ requestId: 'r1' })
  })

  test('cuts long text and keeps a line a line', () => {
    const log = createLogLines()
    log.logger.info('request', { route: `a\n{"msg":"forged"}${'x'.repeat(5_000)}` })
    expect(log.lines()).toHaveLength(1)
    expect(String(log.lines()[0]?.route)).toHaveLength(256)
  })
})

describe('describeError', () => {
  test('gives kind, code and place, never the message', () => {
    const error = Object.assign(new TypeError('canary\n    at canary (file:1:1)\ncanary'), {
      code: 'ECONNREFUSED',
    })
    const described = describeError(error)
    expect(described).toMatchObject({ errorName: 'TypeError', errorCode: 'ECONNREFUSED' })
    expect(described.errorStack).toContain('logger.test')
    expect(JSON.stringify(described)).not.toContain('canary')
  })

  test('gives nothing of a name or code that is no word', () => {
    const error = Object.assign(new Error('x'), { name: 'canary with spaces', code: 'canary: 1' })
    expect(JSON.stringify(describeError(error))).not.toContain('canary')
    expect(describeError('canary')).toEqual({ errorName: 'string' })
  })
})
