import * as z from 'zod'
import type { createLogReader } from '../../chain/logReader.js'
import { toTradingError } from '../foreignErrors.js'
import type { Request } from '../provider.js'
import { nodeAnswer } from '../retry.js'
import type { Wallet } from '../wallet.js'

/** Sends raw JSON-RPC calls, as the log reader takes it. */
export type Node = Parameters<typeof createLogReader>[0]['rpc']
type NodeCall = Parameters<Node['send']>[0][number]
type NodeAnswer = Awaited<ReturnType<Node['send']>>[number]

const refusedSchema = z.looseObject({
  code: z.int(),
  message: z.string(),
  data: z.unknown().optional(),
})
/** The node's own error: as EIP-1193 gives it, or where ethers keeps it. */
const refusalSchema = z.union([
  z.object({ error: refusedSchema }).transform(({ error }) => error),
  z.object({ info: z.object({ error: refusedSchema }) }).transform(({ info }) => info.error),
  refusedSchema,
])

/** The codes of EIP-1193 say that the wallet has not asked its node. */
const isWalletCode = (code: number) => code >= 4_000 && code < 5_000

/**
 * The wallet's provider as the log reader's node: ethers sends calls of one turn together where the provider has batches.
 * @param signal ends each call that is made after it aborts
 */
export function createNode({ request }: Pick<Wallet, 'request'>, signal?: AbortSignal): Node {
  return {
    async send(calls) {
      signal?.throwIfAborted()
      return nodeAnswer(Promise.all(calls.map((call) => answerOf(request, call))), signal)
    },
  }
}

/** @throws ClientError `node-unavailable` when the node does not answer */
async function answerOf(request: Request, { method, params }: NodeCall): Promise<NodeAnswer> {
  try {
    return { result: await request(method, params) }
  } catch (error) {
    const refusal = refusalSchema.safeParse(error)
    if (refusal.success && !isWalletCode(refusal.data.code)) return { error: refusal.data }
    throw toTradingError(error)
  }
}
