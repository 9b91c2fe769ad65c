import { randomUUID } from 'node:crypto'
import express from 'express'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { API_PATHS } from '../../../src/protocol/api.js'
import { errorHandler, instanceOf, Problem, problemBody } from '../../../src/server/http/errors.js'
import { requestId } from '../../../src/server/http/middleware.js'
import { PROBLEM_CODES, PROBLEMS } from '../../../src/server/http/problemCodes.js'
import { createLogLines } from '../../support/logLines.js'

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

describe('an answer of 503', () => {
  const unavailable = PROBLEM_CODES.filter((code) => PROBLEMS[code].status === 503)

  test('is what several codes are', () => {
    expect(unavailable).toEqual(
      expect.arrayContaining(['chain-unavailable', 'overloaded', 'storage-unavailable']),
    )
  })

  test.each(unavailable)('%s says in how many seconds to come back', async (code) => {
    const app = express()
    app.use(requestId())
    app.use(() => {
      throw new Problem(code)
    })
    app.use(errorHandler(createLogLines().logger))
    const response = await request(app).get('/')
    expect([response.status, response.body.code]).toEqual([503, code])
    expect(response.headers['retry-after']).toMatch(/^[1-9]\d*$/)
  })
})

describe('Problem', () => {
  test('takes status and Retry-After from the registry, and lets the thrower name a better moment', () => {
    expect(new Problem('chain-unavailable')).toMatchObject({ status: 503, headers: { 'Retry-After': '5' } })
    const later = new Problem('chain-unavailable', { headers: { 'Retry-After': '30' } })
    expect(later.headers).toEqual({ 'Retry-After': '30' })
  })

  test('renders the members of RFC 9457 and ours', () => {
    const problem = new Problem('policy-rejected', { extensions: { reason: 'unlisted-symbol' } })
    expect(problemBody(problem, { instance: '/policy', requestId: 'r-1' })).toEqual({
      type: '/errors#policy-rejected',
      title: 'Rulebook rejected',
      status: 422,
      detail: PROBLEMS['policy-rejected'].remedy,
      instance: '/policy',
      code: 'policy-rejected',
      requestId: 'r-1',
      reason: 'unlisted-symbol',
    })
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
