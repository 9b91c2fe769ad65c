import type { Reply } from './types.js'

/** A refusal in Alpaca's form: an HTTP status and `{code, message}`, sometimes with more members. */
export function refusal(
  status: number,
  code: number,
  message: string,
  more: Record<string, string> = {},
): Reply {
  return { status, body: { ...more, code, message } }
}

/** The gateway's answer to missing or wrong keys: a message without a code. */
export const UNAUTHORIZED: Reply = { status: 401, body: { message: 'unauthorized.' } }

export const NO_SUCH_ENDPOINT: Reply = refusal(404, 40410000, 'endpoint not found')
