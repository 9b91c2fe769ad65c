import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { instanceOf } from './errors.js'
import { EXPOSED_HEADERS } from './origin.js'
import { type Problem, problemBody } from './problems.js'
import { chooseRequestId } from './requestId.js'
import { securityHeaders } from './securityHeaders.js'

/** Answers a request with a problem before Express has seen it; `headers` are those of this answer alone. */
export type SendProblem = (
  req: IncomingMessage,
  res: ServerResponse,
  problem: Problem,
  headers?: Readonly<Record<string, string>>,
) => void

/**
 * Its answers have the same headers and body as the app's own problems, and cost a fraction: what is the same in each is
 * made once.
 *
 * @param frontendOrigin the one origin whose pages may read them
 */
export function createSendProblem(frontendOrigin: string): SendProblem {
  const common = {
    ...headersOfEveryAnswer(),
    // In lower case, as those are: a name in two spellings would be sent twice.
    vary: 'Origin',
    'cache-control': 'no-store',
    'content-type': 'application/problem+json; charset=utf-8',
  }
  const readable = {
    'Access-Control-Allow-Origin': frontendOrigin,
    'Access-Control-Expose-Headers': EXPOSED_HEADERS.join(','),
  }
  return (req, res, problem, headers) => {
    const requestId = chooseRequestId(req.headers['x-request-id'])
    const text = JSON.stringify(problemBody(problem, { instance: instanceOf(req.url ?? ''), requestId }))
    res.writeHead(problem.status, {
      'X-Request-Id': requestId,
      ...common,
      ...(req.headers.origin === frontendOrigin && readable),
      ...problem.headers,
      ...headers,
      'content-length': Buffer.byteLength(text),
    })
    res.end(text)
  }
}

/** What the app's middleware writes into each answer, read from an answer that is never sent. */
export function headersOfEveryAnswer() {
  const req = new IncomingMessage(new Socket())
  const res = new ServerResponse(req)
  for (const write of securityHeaders()) write(req, res, () => undefined)
  return res.getHeaders()
}
