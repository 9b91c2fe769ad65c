import { REQUEST_LIMIT, sizeOfCall } from './requestSize.js'
import type { RpcAnswer, RpcCall, RpcTransport } from './rpcTransport.js'
import { createTurnGroups } from './turnGroups.js'

interface Waiting {
  readonly calls: readonly RpcCall[]
  readonly resolve: (answers: RpcAnswer[]) => void
  readonly reject: (error: unknown) => void
}

/**
 * Sends what is asked in one turn of the event loop as one request, and what several ask alike once: under load, one
 * request for many callers. All of them share its failure.
 */
export function createRpcBatcher(transport: RpcTransport): Pick<RpcTransport, 'send'> {
  async function send(group: readonly Waiting[]): Promise<void> {
    const calls: RpcCall[] = []
    const places = new Map<string, number>()
    const placeOf = (call: RpcCall): number => {
      const text = JSON.stringify(call)
      const place = places.get(text) ?? calls.push(call) - 1
      places.set(text, place)
      return place
    }
    const asked = group.map((waiting) => ({ ...waiting, places: waiting.calls.map(placeOf) }))
    try {
      const answers = await transport.send(calls)
      for (const { places: own, resolve } of asked) resolve(own.flatMap((place) => answers[place] ?? []))
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
