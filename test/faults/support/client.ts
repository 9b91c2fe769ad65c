import { type Receipt, receiptSchema } from '../../../src/protocol/api.js'
import { SERVER_ENVIRONMENT } from '../../support/serverEnvironment.js'
import type { Work } from './workload.js'

/** What a server answered; undefined when it did not. */
export interface Response {
  readonly status: number
  readonly receipt: Receipt | undefined
}

/** Asks whichever server is up now. */
export interface Client {
  post(work: Work, waitSeconds: number, patienceMs: number): Promise<Response | undefined>
  get(work: Work): Promise<Response | undefined>
}

/** More than the server lets anybody wait. */
export const ANSWER_TIMEOUT_MS = 10_000

export function createClient(url: () => string | undefined): Client {
  const headers = {
    Authorization: `Bearer ${SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN}`,
    'Content-Type': 'application/json',
  }

  async function ask(path: string, init: RequestInit, patienceMs: number): Promise<Response | undefined> {
    const base = url()
    if (base === undefined) return undefined
    try {
      const signal = AbortSignal.timeout(patienceMs)
      const response = await fetch(`${base}${path}`, { ...init, signal })
      const body: unknown = await response.json()
      return { status: response.status, receipt: response.ok ? receiptSchema.parse(body) : undefined }
    } catch {
      return undefined
    }
  }

  return {
    post: ({ body }, waitSeconds, patienceMs) =>
      ask(
        '/relay',
        { method: 'POST', body, headers: { ...headers, Prefer: `wait=${waitSeconds}` } },
        patienceMs,
      ),
    get: ({ digest }) => ask(`/relay/${digest}`, { headers }, ANSWER_TIMEOUT_MS),
  }
}

/** Whether an answer tells the end. */
export function hasEnded(response: Pick<Response, 'receipt'> | undefined): boolean {
  return response?.receipt?.status === 'confirmed' || response?.receipt?.status === 'failed'
}
