import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { ClientError, ServerError } from '../../src/client/errors.js'
import { sleep, withRetries } from '../../src/client/retry.js'

const timing = { attempts: 4, baseMs: 100, maxMs: 1_000 }
const serverError = (status: number, retryAfter: number | null = null) =>
  new ServerError(status, null, retryAfter, null)

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Fails with each of the errors in turn, then succeeds. */
function failing(...errors: Error[]) {
  const left = [...errors]
  return vi.fn(async () => {
    const error = left.shift()
    if (error) throw error
    return 'done'
  })
}

it.each([
  ...[serverError(429), serverError(503)],
  ...[new ClientError('server-timeout', ''), new ClientError('server-unreachable', '')],
])('retries send again after %o', async (error) => {
  const send = failing(error, error)
  const done = withRetries(send, timing)
  await vi.runAllTimersAsync()
  expect(await done).toBe('done')
  expect(send).toHaveBeenCalledTimes(3)
})

it.each([
  ...[serverError(400), serverError(502), serverError(504), new ClientError('unexpected-answer', '')],
  // Hours ahead: left to the caller.
  serverError(429, 301),
])('retries do not send again after %o', async (error) => {
  const send = failing(error)
  await expect(withRetries(send, timing)).rejects.toBe(error)
  expect(send).toHaveBeenCalledTimes(1)
})

it('retries end after the last attempt with its failure', async () => {
  const last = serverError(503)
  const send = failing(serverError(503), serverError(503), serverError(503), last)
  const failed = expect(withRetries(send, timing)).rejects.toBe(last)
  await vi.runAllTimersAsync()
  await failed
  expect(send).toHaveBeenCalledTimes(4)
})

it('retries wait as long as the server asks, or until they are aborted', async () => {
  const send = failing(serverError(429, 300), serverError(503, 300))
  const abort = new AbortController()
  const ended = expect(withRetries(send, timing, abort.signal)).rejects.toThrow('enough')
  await vi.advanceTimersByTimeAsync(299_999)
  expect(send).toHaveBeenCalledTimes(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(send).toHaveBeenCalledTimes(2)
  abort.abort(new Error('enough'))
  await ended
  expect(vi.getTimerCount()).toBe(0)
  await expect(sleep(1, abort.signal)).rejects.toThrow('enough')
})
