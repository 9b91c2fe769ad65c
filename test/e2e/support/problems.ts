import { expect } from 'vitest'
import { problemSchema } from '../../../src/protocol/api.js'
import { PROBLEMS } from '../../../src/server/http/problemCodes.js'
import type { BadRequest } from './badRequests.js'

export type FailingRequest = Omit<BadRequest, 'what' | 'code'>

/** Sends a request that must fail, and holds its answer to all that a problem promises. */
export async function problemAt(url: string, { method, path, headers = {}, body }: FailingRequest) {
  const response = await fetch(url + path, { method, headers, ...(body !== undefined && { body }) })
  const what = `${method} ${path} ${JSON.stringify(headers)} ${String(body).slice(0, 400)}`
  expect(response.headers.get('content-type'), what).toBe('application/problem+json; charset=utf-8')
  const problem = problemSchema.parse(await response.json())
  expect(problem).toMatchObject({
    status: response.status,
    requestId: response.headers.get('x-request-id'),
    type: `/errors#${problem.code}`,
  })
  const known = Object.entries(PROBLEMS).find(([code]) => code === problem.code)?.[1]
  expect(known).toMatchObject({ status: problem.status, title: problem.title })
  if (problem.status === 401) expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/)
  if (problem.status === 405) expect(response.headers.get('allow')).toMatch(/^(?:GET, HEAD|POST)$/)
  if (problem.status >= 502) expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
  return problem
}
