import { REQUEST_LIMIT, sizeOfCall } from '../../chain/requestSize.js'
import { isRateLimited } from '../../chain/rpcRequest.js'
import type { RpcAnswer, RpcCall, RpcNodes, SingleNode } from '../../chain/rpcTransport.js'
import { createTurnGroups } from '../../chain/turnGroups.js'
import type { Hex } from '../../protocol/hex.js'

/** The nodes' answers to one transaction. */
export interface Reception {
  /** How many hold it: they took it now, or had it already. */
  readonly held: number
  /** How many answered, took nothing and don't know it. */
  readonly refused: number
}

/** Gives signed transactions to the chain's nodes. */
export interface Broadcaster {
  /**
   * Sends the same bytes to every healthy node at once; never rejects. A refusal says little: "already known" is a
   * success, "nonce too low" may be one, and nodes word them differently. So a node that refuses is asked whether it
   * knows the hash. `held: 0` does not prove that the transaction will not be mined: a lost answer may
   * hide that a node took it.
   */
  send(transaction: { raw: Hex; hash: Hex }): Promise<Reception>
}

interface Offer {
  readonly raw: Hex
  readonly hash: Hex
  readonly resolve: (reception: Reception) => void
}

/** Whether a node holds a transaction; undefined when it gave no answer, or seems to be out of order. */
type Verdict = boolean | undefined

/** Only the node itself can make it fail: if it succeeds, the node is in order, whatever its other answers say. */
const CONTROL: RpcCall = { method: 'eth_blockNumber', params: [] }
/** Leaves room for the control in the request that asks for hashes. */
const GROUP_LIMIT = REQUEST_LIMIT - sizeOfCall(CONTROL)

/** Transactions of one turn of the event loop travel in one request, in the order in which they came. */
export function createBroadcaster(nodes: Pick<RpcNodes, 'toAll'>): Broadcaster {
  async function sendAll(offers: readonly Offer[]): Promise<void> {
    const verdicts = await nodes.toAll((node) => offerTo(node, offers))
    for (const [index, { resolve }] of offers.entries()) {
      const count = (verdict: Verdict) => verdicts.filter((ofNode) => ofNode[index] === verdict).length
      resolve({ held: count(true), refused: count(false) })
    }
  }

  const gather = createTurnGroups<Offer>(
    { limit: GROUP_LIMIT, sizeOf: (offer) => sizeOfCall(submission(offer)) },
    (group) => void sendAll(group),
  )
  return {
    send: ({ raw, hash }) => new Promise((resolve) => gather({ raw, hash, resolve })),
  }
}

async function offerTo(node: SingleNode, offers: readonly Offer[]): Promise<Verdict[]> {
  const answers = await node.send(offers.map(submission))
  if (answers === null) return []
  const refused = offers.filter((_, index) => !isTaken(answers[index]))
  const known = refused.length === 0 ? [] : await node.send([...refused.map(question), CONTROL])
  const isInOrder = isResult(known?.[refused.length])
  return offers.map((offer) => {
    const at = refused.indexOf(offer)
    if (at === -1) return true
    return verdictBy(question(offer), known?.[at], isInOrder)
  })
}

/** A node in order may have an error for a hash that it does not know: geth, while it indexes its transactions. */
function verdictBy(asked: RpcCall, answer: RpcAnswer | undefined, isInOrder: boolean): Verdict {
  if (isResult(answer)) return isTaken(answer)
  return isInOrder && !isRateLimited(asked, answer) ? false : undefined
}

function submission({ raw }: Offer) {
  return { method: 'eth_sendRawTransaction', params: [raw] }
}

function question({ hash }: Offer) {
  return { method: 'eth_getTransactionByHash', params: [hash] }
}

function isResult(answer: RpcAnswer | undefined): boolean {
  return answer !== undefined && 'result' in answer
}

/** A null stands for a transaction that the node does not know. */
function isTaken(answer: RpcAnswer | undefined): boolean {
  return answer !== undefined && 'result' in answer && answer.result !== null
}
