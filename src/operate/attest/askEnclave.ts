import * as z from 'zod'
import { problemSchema } from '../../protocol/api.js'
import { jsonOf } from '../../protocol/json.js'
import { CommandError, RefusedError } from '../../terminal/failure.js'

/** A founding, which makes all its evidence and seals the shares. */
const TIMEOUT_MS = 30_000

/**
 * Asks an attested enclave.
 * @throws RefusedError with the enclave's code; CommandError `enclave-unavailable`
 */
export async function askEnclave<T>(
  enclaveUrl: string,
  path: string,
  request: {
    readonly method: 'GET' | 'POST'
    readonly body?: object
    readonly headers?: Readonly<Record<string, string>>
    readonly timeoutMs?: number
  },
  schema: z.core.$ZodType<T>,
): Promise<T> {
  const { status, text } = await exchange(`${enclaveUrl}${path}`, request)
  if (status !== 200) {
    const { data } = problemSchema.safeParse(jsonOf(text))
    if (status >= 500 || data === undefined)
      throw unavailable(`the enclave answered ${status}${data === undefined ? '' : ` (${data.code})`}`)
    throw new RefusedError(data.code, data.title)
  }
  const { data } = z.safeParse(schema, jsonOf(text))
  if (data === undefined) throw unavailable('the answer is none of such an enclave')
  return data
}

async function exchange(
  url: string,
  { method, body, headers, timeoutMs = TIMEOUT_MS }: Parameters<typeof askEnclave>[2],
) {
  try {
    const answer = await fetch(url, {
      method,
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
      headers: { ...headers, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, text: await answer.text() }
  } catch {
    throw unavailable('the enclave does not answer')
  }
}

function unavailable(text: string): CommandError {
  return new CommandError('enclave-unavailable', text)
}
