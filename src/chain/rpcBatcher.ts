import { REQUEST_LIMIT, sizeOfCall } from './requestSize.js'
import type { RpcAnswer, RpcCall, RpcTransport } from './rpcTransport.js'
import { createTurnGroups } from './turnGroups.js'

interface Waiting {
  readonly calls: readonly RpcCall[]
  readonly resolve: (answers: RpcAnswer[]) => void
  readonly reject: (error: unknown) => void
}

/**
 * Sends what is asked in one turn of the event loop as one request: under load, one for many callers. All of them share
 * its failure.
 */
export function createRpcBatcher(transport: RpcTransport): Pick<RpcTransport, 'send'> {
  async function send(group: readonly Waiting[]): Promise<void> {
    try {
      const answers = await transport.send(group.flatMap(({ calls }) => calls))
      let from = 0
      for (const { calls, resolve } of group) {
        resolve(answers.slice(from, from + calls.length))
        from += calls.length
      }
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }

  const gather = createTurnGroups<Waiting>(
    { limit: REQUEST_LIMIT, sizeOf: ({ calls }) => calls.reduce((sum, call) => sum + sizeOfCall(call), 0) },
    (group) => void send(group),
  )
  return {
    send: (calls) => new Promise((resolve, reject) => gather({ calls, resolve, reject })),
  }
}
