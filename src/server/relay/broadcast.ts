import { createRpcTransport } from '../../chain/rpcTransport.js'
import type { Hex } from '../../protocol/hex.js'

/** Gives a signed transaction to the chain's nodes. */
export interface Broadcaster {
  /**
   * Sends the same bytes to every node at once; never rejects.
   *
   * @returns how many took them. A refusal says little: "already known" is a success, "nonce too low" may be one, an
   *   answer that is lost may hide either, and nodes word them differently. So nobody may conclude from 0 that the
   *   transaction will not be mined: the chain is asked instead.
   */
  send(raw: Hex): Promise<number>
}

export function createBroadcaster(options: { urls: readonly string[]; timeoutMs: number }): Broadcaster {
  const { urls, timeoutMs } = options
  const nodes = urls.map((url) => createRpcTransport({ urls: [url], timeoutMs }))
  return {
    async send(raw) {
      const call = { method: 'eth_sendRawTransaction', params: [raw] }
      const answers = await Promise.allSettled(nodes.map((node) => node.send([call])))
      const taken = answers.filter(
        (answer) => answer.status === 'fulfilled' && answer.value.some((single) => 'result' in single),
      )
      return taken.length
    },
  }
}
