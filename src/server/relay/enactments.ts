// Enacts corporate actions: the owner's proposal is the last thing that a person does for one.
import { FINAL_DEPTH } from '../../chain/blockTracker.js'
import { createContracts, createCorporateActions, LISTED } from '../../chain/contracts.js'
import { ACTION_PROPOSED, enactmentCall, firstBlockOfProposals } from '../../chain/enactmentCall.js'
import { blockCall, blockSchema, resultOf } from '../../chain/jsonRpc.js'
import { createLogReader } from '../../chain/logReader.js'
import { createReadLane } from '../../chain/readLane.js'
import type { Rpc } from '../../chain/rpc.js'
import { createViewCaller } from '../../chain/views.js'
import type { ContractAddresses } from '../../protocol/api.js'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import type { Tick } from '../../service/lifetime.js'
import type { Logger } from '../../service/logger.js'
import { createTimedValue } from '../../service/waiting.js'
import { RelayRefusal } from './authorization.js'
import { SupersededError } from './record.js'
import type { Relay } from './relay.js'

interface Proposal {
  /** Calldata that enacts it. */
  readonly data: Hex
  /** The head at which it was first seen in the list. */
  listedBy?: number | undefined
}

/**
 * A tick reads new proposals, asks the chain which of them are due, and has the relay enact them. The chain alone says what is
 * proposed. So a restart, another server or a reorganization changes nothing: the contract refuses a second enactment.
 */
export function createEnactments(deps: {
  readonly rpc: Pick<Rpc, 'send' | 'faults'>
  readonly contracts: ContractAddresses
  readonly logRange: number
  readonly relay: Pick<Relay, 'of' | 'begin'>
  readonly logger: Logger
}): Tick {
  const { contracts, logRange: maxBlocks, relay, logger } = deps
  const rpc = createReadLane(deps.rpc)
  const caller = createViewCaller(rpc)
  const { escrow, token } = createContracts(caller, contracts)
  const refusals = new Map<Hex, string>()
  const proposals = new Map<Hex, Proposal>()
  /** The last block whose proposals were read, and whether it was the head then. */
  let read: { readonly to: number; readonly isHead: boolean } | undefined
  const listOf = createTimedValue(Number.POSITIVE_INFINITY, async () => {
    const address = await token.actions()
    const logs = createLogReader({ rpc, queries: [{ address, topics: [ACTION_PROPOSED] }], maxBlocks })
    return { ...createCorporateActions(caller, address), logs }
  })

  async function enact(target: Hex, digest: Hex, data: Hex): Promise<void> {
    if (relay.of(digest) !== undefined) return
    const purpose = { kind: 'platform' } as const
    try {
      await relay.begin({ digest, primaryType: 'ActionEnactment', target, data, purpose })
      refusals.delete(digest)
    } catch (error) {
      // Another server has left a record of it, which the dispatcher claims.
      if (error instanceof SupersededError) return
      if (!(error instanceof RelayRefusal)) throw error
      const { reason: refusal } = error
      const reason = refusal.code === 'would-revert' ? refusal.revert.name : refusal.code
      // Its turn comes once others of its symbol are in the list: the contract alone knows their order.
      if (reason === 'ActionOutOfOrder') return
      // Once for each reason: a pause may last for days.
      if (refusals.get(digest) !== reason) logger.warn('corporate action not enacted', { digest, reason })
      refusals.set(digest, reason)
    }
  }

  return async () => {
    const [latest] = await rpc.send([blockCall('latest')])
    const head = resultOf(latest, blockSchema)
    read ??= {
      to: (await firstBlockOfProposals(rpc, await escrow.deployedAt(), head)) - 1,
      isHead: false,
    }
    const list = await listOf()
    const from = read.isHead ? Math.max(0, Math.min(read.to, head.number) - FINAL_DEPTH) : read.to + 1
    const piece = await list.logs.readPiece({ from, to: head.number })
    if (piece === undefined) return undefined
    for (const { topics, data } of piece.logs) {
      const digest = bytes32Schema.parse(topics[1])
      if (!proposals.has(digest)) proposals.set(digest, { data: enactmentCall(data) })
    }
    read = { to: piece.to, isHead: piece.to === head.number }
    if (!read.isHead) return 'again'
    await Promise.all([...proposals].map(([digest, proposal]) => follow(list, digest, proposal, head)))
    return undefined
  }

  async function follow(
    list: { readonly address: Hex; effectiveAt(digest: Hex): Promise<bigint> },
    digest: Hex,
    proposal: Proposal,
    head: { readonly number: number; readonly timestamp: number },
  ): Promise<void> {
    const at = await list.effectiveAt(digest)
    proposal.listedBy = at === LISTED ? (proposal.listedBy ?? head.number) : undefined
    // It was withdrawn, or is in the list for good.
    if (at === 0n || head.number > (proposal.listedBy ?? head.number) + FINAL_DEPTH) proposals.delete(digest)
    else if (at <= BigInt(head.timestamp)) await enact(list.address, digest, proposal.data)
  }
}
