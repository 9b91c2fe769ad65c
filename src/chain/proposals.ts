// Corporate actions that are proposed and not yet in the list, whatever the broker says of them today.
import { z } from 'zod/mini'
import type { CorporateAction } from '../protocol/corporateActions.js'
import { bytes32Schema, type Hex } from '../protocol/hex.js'
import { actionOf, listedActionSchema } from './actionList.js'
import { type createCorporateActions, LISTED } from './contracts.js'
import { ACTION_PROPOSED, firstBlockOfProposals } from './enactmentCall.js'
import { interfaces } from './interfaces.js'
import { blockCall, blockSchema, resultOf } from './jsonRpc.js'
import { createLogReader } from './logReader.js'
import type { Rpc } from './rpc.js'

/** Nodes take a query over so many blocks; the reader asks for fewer where they do not. */
const MAX_BLOCKS = 10_000
const eventSchema = z.object({
  digest: bytes32Schema,
  action: z.pipe(z.array(z.unknown()), listedActionSchema),
})

export interface Proposal {
  readonly digest: Hex
  /** `index` is none yet. */
  readonly action: CorporateAction
  /** Unix seconds from which it can be enacted. */
  readonly effectiveAt: number
}

/**
 * @param deployedAt Unix seconds: there is none from before
 * @throws ChainUnavailableError, ChainAnswerError
 */
export async function readProposals(
  rpc: Pick<Rpc, 'send'>,
  contract: ReturnType<typeof createCorporateActions>,
  deployedAt: number,
): Promise<Proposal[]> {
  const [latest] = await rpc.send([blockCall('latest')])
  const head = resultOf(latest, blockSchema)
  const first = await firstBlockOfProposals(rpc, deployedAt, head)
  const queries = [{ address: contract.address, topics: [ACTION_PROPOSED] }]
  const reader = createLogReader({ rpc, queries, maxBlocks: MAX_BLOCKS })
  const proposed = new Map<Hex, CorporateAction>()
  for (let from = first; from <= head.number; ) {
    const piece = await reader.readPiece({ from, to: head.number })
    if (piece === undefined) break
    for (const { data, topics } of piece.logs) {
      const parsed = interfaces.corporateActions.parseLog({ data, topics })
      const { digest, action } = eventSchema.parse(parsed?.args.toObject())
      proposed.set(digest, actionOf(action, 0))
    }
    from = piece.to + 1
  }
  const found = [...proposed].map(async ([digest, action]) => {
    const at = await contract.effectiveAt(digest)
    return at > 0n && at < LISTED ? [{ digest, action, effectiveAt: Number(at) }] : []
  })
  return (await Promise.all(found)).flat()
}
