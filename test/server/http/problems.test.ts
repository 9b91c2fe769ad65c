import { readFileSync } from 'node:fs'
import express from 'express'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { errorHandler } from '../../../src/server/http/errors.js'
import { PROBLEM_CODES, PROBLEMS } from '../../../src/server/http/problemCodes.js'
import { Problem, problemBody } from '../../../src/server/http/problems.js'
import { requestId } from '../../../src/server/http/requestId.js'
import { createLogLines } from '../../support/logLines.js'

const page = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8')
const sections = new Map(
  page
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')).trim(), section]),
)

describe('docs/errors.md', () => {
  test('has a section for every code, and none for another', () => {
    expect([...sections.keys()].sort()).toEqual(Object.keys(PROBLEMS).sort())
  })

  test.each(Object.entries(PROBLEMS))(
    '%s is described with its status, title and remedy',
    (code, definition) => {
      const section = sections.get(code) ?? ''
      expect(section).toContain(`\n${definition.status} ${definition.title}. `)
      expect(section).toContain(`- What to do: ${definition.remedy}\n`)
      expect(section).toMatch(/^- Typical cause: \S/m)
    },
  )
})

describe('PROBLEMS', () => {
  test.each(Object.entries(PROBLEMS))('%s is kebab-case and a client or server error', (code, definition) => {
    expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/)
    expect(definition.status).toBeGreaterThanOrEqual(400)
    expect(definition.status).toBeLessThan(600)
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
      type: '/docs/errors.md#policy-rejected',
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
