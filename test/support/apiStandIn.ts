import type { IncomingHttpHeaders } from 'node:http'
import { afterAll } from 'vitest'
import { startHttpServer } from './httpServer.js'

export interface ApiRequest {
  method: string
  path: string
  headers: IncomingHttpHeaders
  /** The JSON body, undefined when there is none. */
  body: unknown
}

export interface ApiAnswer {
  status?: number
  headers?: Record<string, string>
  /** Sent as JSON; a string as it is. */
  body?: unknown
}

type Answer = (request: ApiRequest) => ApiAnswer | null | Promise<ApiAnswer | null>
export type ApiStandIn = Awaited<ReturnType<typeof startApiStandIn>>

/** An HTTP server that answers as a test tells it, and keeps what it was asked. */
export async function startApiStandIn() {
  const requests: ApiRequest[] = []
  let answer: Answer = () => ({ status: 404 })
  const server = await startHttpServer(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(Buffer.from(chunk))
    const text = Buffer.concat(chunks).toString()
    const { method = '', url: path = '', headers } = req
    const request = { method, path, headers, body: text === '' ? undefined : JSON.parse(text) }
    requests.push(request)
    const given = await answer(request)
    if (given === null) return
    const { status = 200, body } = given
    res.writeHead(status, { 'content-type': 'application/json', ...given.headers })
    res.end(typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body))
  })
  return {
    ...server,
    requests,
    /** How it answers from now on; `null` leaves the request hanging. */
    answerWith(next: Answer) {
      answer = next
    },
  }
}

/** A stand-in for the tests of a file, which stops after them. */
export async function useApi(): Promise<ApiStandIn> {
  const api = await startApiStandIn()
  afterAll(() => api.stop())
  return api
}

/** A problem body as the API documents it. */
export function problem(status: number, code: string, extra: Record<string, unknown> = {}): ApiAnswer {
  const body = {
    type: `/errors#${code}`,
    title: 'A title',
    status,
    detail: 'A detail.',
    instance: '/x',
    code,
  }
  return {
    status,
    headers: { 'content-type': 'application/problem+json' },
    body: { ...body, requestId: 'request-1', ...extra },
  }
}
