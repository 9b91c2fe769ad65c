import * as z from 'zod'
import type { createLogReader } from '../../chain/logReader.js'
import { ClientError } from '../errors.js'
import { toTradingError } from '../foreignErrors.js'
import { abortable } from '../retry.js'
import type { Wallet } from '../wallet.js'

/** Sends raw JSON-RPC calls, as the log reader takes it. */
export type Node = Parameters<typeof createLogReader>[0]['rpc']
type NodeCall = Parameters<Node['send']>[0][number]
type NodeAnswer = Awaited<ReturnType<Node['send']>>[number]

/** ethers keeps the node's own error beside its message. */
const refusalSchema = z.object({
  error: z.looseObject({ code: z.int(), message: z.string(), data: z.unknown().optional() }),
})

/**
 * The wallet's provider as the log reader's node: ethers sends calls of one turn together where the provider has batches.
 * @param signal ends each call that is made after it aborts
 * @throws ClientError `no-provider` for a provider that takes no raw JSON-RPC calls
 */
export function createNode({ request }: Pick<Wallet, 'request'>, signal?: AbortSignal): Node {
  if (request === undefined) {
    throw new ClientError('no-provider', 'Connect the signer to a JSON-RPC provider, or to a browser wallet.')
  }
  return {
    send(calls) {
      signal?.throwIfAborted()
      return abortable(Promise.all(calls.map((call) => answerOf(request, call))), signal)
    },
  }
}

/** @throws ClientError `node-unavailable` when the node does not answer */
async function answerOf(
  request: NonNullable<Wallet['request']>,
  { method, params }: NodeCall,
): Promise<NodeAnswer> {
  try {
    return { result: await request(method, [...params]) }
  } catch (error) {
    const refusal = refusalSchema.safeParse(error)
    if (refusal.success) return { error: refusal.data.error }
    throw toTradingError(error)
  }
}
