// Enacts corporate actions: the owner's proposal is the last thing that a person does for one.
import { z } from 'zod'
import { createContracts, createCorporateActions, LISTED } from '../../chain/contracts.js'
import { enactmentCall } from '../../chain/enactmentCall.js'
import { interfaces } from '../../chain/interfaces.js'
import { blockCall, blockSchema, resultOf } from '../../chain/jsonRpc.js'
import { blockTime, type ChainLog, createLogReader, firstBlockSince } from '../../chain/logReader.js'
import { createReadLane } from '../../chain/readLane.js'
import type { Rpc } from '../../chain/rpc.js'
import { createViewCaller } from '../../chain/views.js'
import type { ContractAddresses } from '../../protocol/api.js'
import { bytes32Schema, type Hex, hexBetween } from '../../protocol/hex.js'
import type { Tick } from '../../service/lifetime.js'
import type { Logger } from '../../service/logger.js'
import { createTimedValue } from '../../service/waiting.js'
import { createStateDocument } from '../store/documents.js'
import type { Engine } from '../store/engine.js'
import { RelayRefusal } from './authorization.js'
import { SupersededError } from './record.js'
import type { Relay } from './relay.js'

const proposalSchema = z.strictObject({
  digest: bytes32Schema,
  /** The number of the block that has it. */
  block: z.int().min(0),
  /** Calldata that enacts it. */
  data: hexBetween(4, 1_024),
})
type Proposal = z.output<typeof proposalSchema>

const placeSchema = z.strictObject({
  /** Proposals were read up to this final block. */
  block: z.int().min(0),
  /** Those among them that were not in the list for good by then. */
  open: z.array(proposalSchema),
})
type Place = z.output<typeof placeSchema>

const PROPOSED = interfaces.corporateActions.getEvent('ActionProposed')?.topicHash ?? ''
/** Blocks below the head at which a block counts as final, as for the narrator. */
const FINAL_DEPTH = 64
/** Blocks after which the place is stored again although nothing was proposed. */
const STORE_EVERY = 1_000
/** The broker announces 90 days ahead, and an enactment follows its proposal as soon as it is due. */
const LOOK_BACK_SECONDS = 100 * 86_400

/**
 * A tick reads new proposals, asks the chain which of them are due, and has the relay enact them. The chain alone says what is
 * proposed. So a restart, another server or a reorganization changes nothing: the contract refuses a second enactment.
 */
export function createEnactments(deps: {
  readonly rpc: Pick<Rpc, 'send' | 'faults'>
  readonly contracts: ContractAddresses
  /** The most blocks of one query. */
  readonly logRange: number
  readonly relay: Pick<Relay, 'of' | 'begin'>
  /** Its writes carry the term of the relayer's account. */
  readonly engine: Engine
  readonly logger: Logger
}): Tick {
  const { contracts, logRange: maxBlocks, relay, logger } = deps
  const rpc = createReadLane(deps.rpc)
  const caller = createViewCaller(rpc)
  const { escrow, token } = createContracts(caller, contracts)
  const places = createStateDocument({ ...deps, id: 'enactments', schema: placeSchema })
  const refusals = new Map<Hex, string>()
  let place: Place | undefined
  let stored: Place | undefined
  const listOf = createTimedValue(Number.POSITIVE_INFINITY, async () => {
    const address = await token.actions()
    const logs = createLogReader({ rpc, queries: [{ address, topics: [PROPOSED] }], maxBlocks })
    return { ...createCorporateActions(caller, address), logs }
  })

  async function begin(head: { number: number; timestamp: number }): Promise<Place> {
    stored = await places.load()
    // A chain that is shorter than it was final is another one.
    if (stored !== undefined && stored.block <= head.number) return stored
    const since = Math.max(await escrow.deployedAt(), head.timestamp - LOOK_BACK_SECONDS)
    const first = await firstBlockSince((block) => blockTime(rpc, block), since, head.number)
    return { block: Math.max(0, first - 1), open: [] }
  }

  async function advance(block: number, open: readonly Proposal[]): Promise<void> {
    place = { block, open: open.filter((each) => each.block <= block) }
    const isSame = digestsOf(place) === digestsOf(stored)
    if (isSame && block - (stored?.block ?? 0) < STORE_EVERY) return
    await places.save(place)
    stored = place
  }

  async function enact(target: Hex, { digest, data }: Proposal): Promise<void> {
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
    place ??= await begin(head)
    if (head.number <= place.block) return undefined
    const list = await listOf()
    const piece = await list.logs.readPiece({ from: place.block + 1, to: head.number })
    if (piece === undefined) return undefined
    const known = [...place.open, ...piece.logs.map(proposalOf)]
    const final = Math.max(place.block, Math.min(piece.to, head.number - FINAL_DEPTH))
    if (piece.to < head.number) {
      await advance(final, known)
      return 'again'
    }
    const stateOf = async (proposal: Proposal) => ({ proposal, at: await list.effectiveAt(proposal.digest) })
    const states = await Promise.all(known.map(stateOf))
    const due = states.filter(({ at }) => at > 0n && at <= BigInt(head.timestamp))
    for (const { proposal } of due) await enact(list.address, proposal)
    const isOpen = (at: bigint) => at > 0n && at < LISTED
    const keep = states.map(
      async ({ proposal: { digest, block }, at }) =>
        isOpen(at) || block > final || isOpen(await list.effectiveAt(digest, final)),
    )
    const isKept = await Promise.all(keep)
    await advance(
      final,
      known.filter((_, index) => isKept[index]),
    )
    return undefined
  }
}

function digestsOf(place: Place | undefined): string | undefined {
  return place?.open.map(({ digest }) => digest).join()
}

function proposalOf({ topics: [, digest], data, blockNumber: block }: ChainLog): Proposal {
  return proposalSchema.parse({ digest, block, data: enactmentCall(data) })
}
