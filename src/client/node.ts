import * as z from 'zod/mini'
import type { createLogReader } from '../chain/logReader.js'
import { foreignCode, isHttpStatus, toTradingError, unwrapped } from './foreignErrors.js'
import type { Request } from './provider.js'
import { nodeAnswer } from './retry.js'
import type { Wallet } from './wallet.js'

/** Sends raw JSON-RPC calls, as the log reader takes it. */
export type Node = Parameters<typeof createLogReader>[0]['rpc']
type NodeCall = Parameters<Node['send']>[0][number]
type NodeAnswer = Awaited<ReturnType<Node['send']>>[number]

const refusedSchema = z.looseObject({
  code: z.int(),
  message: z.string(),
  data: z.optional(z.unknown()),
})
/** The codes of EIP-1193 say that the wallet has not asked its node. */
const isWalletCode = (code: number) => code >= 4_000 && code < 5_000
/** An answer would be too long for the node, or the request: so some nodes refuse a range of blocks. */
const TOO_LARGE = 413

/** The node's own error, which is its answer to one call; undefined where wallet or node failed. */
function refusalIn(error: unknown): z.output<typeof refusedSchema> | undefined {
  const code = foreignCode(error)
  if (code === TOO_LARGE) return { code, message: 'too large' }
  const found = unwrapped(error).map((each) => refusedSchema.safeParse(each).data)
  const refusal = found.findLast((each) => each !== undefined)
  return refusal === undefined || isWalletCode(refusal.code) || isHttpStatus(code) ? undefined : refusal
}

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

/** @throws ClientError `node-unavailable`, `node-timeout`, `node-rate-limited` */
async function answerOf(request: Request, { method, params }: NodeCall): Promise<NodeAnswer> {
  try {
    return { result: await request(method, params) }
  } catch (error) {
    const refusal = refusalIn(error)
    if (refusal === undefined) throw toTradingError(error)
    return { error: refusal }
  }
}
