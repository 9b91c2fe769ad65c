import { z } from 'zod'
import { ProtocolError } from '../protocol/errors.js'
import type { ControlRunners } from './commands.js'
import type { BrokerControl } from './control.js'
import type { Reply } from './types.js'

/** Answers `/sandbox/*`: a view, or 204 after a command; 400 with the reason for a malformed one. */
export function createControlRoutes(
  control: BrokerControl,
  commands: ControlRunners,
): (call: { method: string; path: string; body: unknown }) => Reply {
  const views = new Map<string, () => unknown>([
    ['orders', control.orders],
    ['accounts', control.accounts],
    ['activities', control.activities],
    ['requests', control.requests],
  ])
  const runners = new Map(Object.entries(commands))

  return ({ method, path, body }) => {
    const name = path.slice('/sandbox/'.length)
    const view = method === 'GET' ? views.get(name) : undefined
    if (view) return { status: 200, body: view() }
    const run = method === 'POST' ? runners.get(name) : undefined
    if (!run) return { status: 404, body: { message: `no such control: ${method} ${path}` } }
    try {
      run(body)
      return { status: 204 }
    } catch (error) {
      if (error instanceof z.ZodError) return { status: 400, body: { message: z.prettifyError(error) } }
      if (error instanceof RangeError || error instanceof ProtocolError) {
        return { status: 400, body: { message: error.message } }
      }
      throw error
    }
  }
}
