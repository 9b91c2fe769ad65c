import { isRateLimited, isResult } from '../../chain/jsonRpc.js'
import {
  createTurnGroups,
  REQUEST_LIMIT,
  type Rpc,
  type RpcAnswer,
  type RpcCall,
  type SingleNode,
  sizeOfCall,
} from '../../chain/rpc.js'
import type { Hex } from '../../protocol/hex.js'

/** The nodes' answers to one transaction. */
export interface NodeAnswers {
  /** How many have it: they accepted it now, or had it already. */
  readonly accepted: number
  /** How many of these had it already: it was not lost, whatever their pending count says. */
  readonly known: number
  /** How many answered, accepted nothing and don't know it. */
  readonly refused: number
}

/** Broadcasts signed transactions to the chain's nodes. */
export type Broadcaster = ReturnType<typeof createBroadcaster>

interface Submission {
  readonly raw: Hex
  readonly hash: Hex
  readonly resolve: (answers: NodeAnswers) => void
}

/** The answer of one node; undefined when it gave no answer, or seems to be broken. */
type Verdict = 'accepted' | 'known' | 'refused' | undefined

/** Only a broken node fails to answer it: if it succeeds, the node works, and its other answers count. */
const CONTROL: RpcCall = { method: 'eth_blockNumber', params: [] }
/** Reserves room for the control in the request that asks for hashes. */
const GROUP_LIMIT = REQUEST_LIMIT - sizeOfCall(CONTROL)

/** Transactions of one turn of the event loop travel in one request, in the order in which they came. */
export function createBroadcaster(nodes: Pick<Rpc, 'toAll'>) {
  async function sendAll(submissions: readonly Submission[]): Promise<void> {
    const verdicts = await nodes.toAll((node) => submitTo(node, submissions))
    for (const [index, { resolve }] of submissions.entries()) {
      const count = (verdict: Verdict) => verdicts.filter((ofNode) => ofNode[index] === verdict).length
      const known = count('known')
      resolve({ accepted: count('accepted') + known, known, refused: count('refused') })
    }
  }

  const gather = createTurnGroups<Submission>(
    { limit: GROUP_LIMIT, sizeOf: (submission) => sizeOfCall(sendCall(submission)) },
    (group) => void sendAll(group),
  )
  return {
    /**
     * Sends the same bytes to every healthy node at the same time; never rejects. A refusal says little: "already known" is a
     * success, "nonce too low" may be one, and nodes word them differently. So a node that refuses is asked whether it
     * knows the hash. `accepted: 0` does not prove that the transaction will not be mined: a lost answer may
     * hide that a node accepted it.
     */
    send: ({ raw, hash }: { raw: Hex; hash: Hex }) =>
      new Promise<NodeAnswers>((resolve) => gather({ raw, hash, resolve })),
  }
}

async function submitTo(node: SingleNode, submissions: readonly Submission[]): Promise<Verdict[]> {
  const answers = await node.send(submissions.map(sendCall))
  if (answers === null) return []
  const refused = submissions.filter((_, index) => !isAccepted(answers[index]))
  const known = refused.length === 0 ? [] : await node.send([...refused.map(txByHashCall), CONTROL])
  const isWorking = isResult(known?.[refused.length])
  return submissions.map((submission) => {
    const at = refused.indexOf(submission)
    if (at === -1) return 'accepted'
    return verdictBy(txByHashCall(submission), known?.[at], isWorking)
  })
}

/** A working node may answer with an error for a hash that it does not know: geth does while it indexes its transactions. */
function verdictBy(asked: RpcCall, answer: RpcAnswer | undefined, isWorking: boolean): Verdict {
  if (isResult(answer)) return isAccepted(answer) ? 'known' : 'refused'
  return isWorking && !isRateLimited(asked, answer) ? 'refused' : undefined
}

function sendCall({ raw }: Submission) {
  return { method: 'eth_sendRawTransaction', params: [raw] }
}

function txByHashCall({ hash }: Submission) {
  return { method: 'eth_getTransactionByHash', params: [hash] }
}

/** A null stands for a transaction that the node does not know. */
function isAccepted(answer: RpcAnswer | undefined): boolean {
  return isResult(answer) && answer.result !== null
}
