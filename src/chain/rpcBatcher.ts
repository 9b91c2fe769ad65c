import type { RpcAnswer, RpcCall, RpcTransport } from './rpcTransport.js'

/** Public nodes take no more in one request. */
const MAX_CALLS = 100

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
  let waiting: Waiting[] = []

  async function flush(group: readonly Waiting[]): Promise<void> {
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

  function flushAll(): void {
    const all = waiting
    waiting = []
    let group: Waiting[] = []
    let size = 0
    for (const one of all) {
      if (group.length > 0 && size + one.calls.length > MAX_CALLS) {
        void flush(group)
        group = []
        size = 0
      }
      group.push(one)
      size += one.calls.length
    }
    if (group.length > 0) void flush(group)
  }

  return {
    send(calls) {
      return new Promise((resolve, reject) => {
        if (waiting.length === 0) setImmediate(flushAll)
        waiting.push({ calls, resolve, reject })
      })
    },
  }
}
