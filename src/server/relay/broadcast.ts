import type { RpcNodes } from '../../chain/rpcTransport.js'
import type { Hex } from '../../protocol/hex.js'

/** What the nodes made of one transaction. */
export interface Reception {
  /** How many hold it: they took it now, or had it already. */
  readonly held: number
  /** How many answered, took nothing and don't know it. */
  readonly refused: number
}

/** Gives a signed transaction to the chain's nodes. */
export interface Broadcaster {
  /**
   * Sends the same bytes to every healthy node at once; never rejects. A refusal says little: "already known" is a
   * success, "nonce too low" may be one, and nodes word them differently. So a node that refuses is asked whether it
   * knows the hash. Nobody may conclude from `held: 0` that the transaction will not be mined: a lost answer may
   * hide that it was taken.
   */
  send(transaction: { raw: Hex; hash: Hex }): Promise<Reception>
}

export function createBroadcaster(nodes: Pick<RpcNodes, 'sendToAll'>): Broadcaster {
  return {
    async send({ raw, hash }) {
      // In one batch, so that it is the same node that refuses and is asked.
      const answers = await nodes.sendToAll([
        { method: 'eth_sendRawTransaction', params: [raw] },
        { method: 'eth_getTransactionByHash', params: [hash] },
      ])
      const held = answers.filter((answer) => answer?.some(hasResult)).length
      return { held, refused: answers.filter((answer) => answer !== null).length - held }
    },
  }
}

/** A null stands for a transaction that the node does not know. */
function hasResult(answer: object): boolean {
  return 'result' in answer && answer.result !== null
}
