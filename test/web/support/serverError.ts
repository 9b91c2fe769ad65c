import { ServerError } from '../../../src/client/index.js'

/** An answer with a problem body, as the server gives it. */
export function serverError(status: number, code: string, more: Record<string, unknown> = {}): ServerError {
  const problem = {
    ...{ type: 'about:blank', title: 'Some title', status, detail: 'Some detail.', instance: '/x' },
    ...{ code, requestId: 'req-1', ...more },
  }
  return new ServerError(status, 'req-1', null, problem)
}
