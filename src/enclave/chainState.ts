import type { BlockTag, JsonRpcApiProvider } from 'ethers'
import { z } from 'zod'
import { createAuthority } from '../chain/authority.js'
import type { ViewCaller } from '../chain/contractReader.js'
import { type Contracts, createContracts } from '../chain/contracts.js'
import { ChainAnswerError } from '../chain/errors.js'
import { toQuantity } from '../chain/quantity.js'
import { createUsdc, type Usdc } from '../chain/usdc.js'
import type { ContractAddresses } from '../protocol/api.js'
import { authorizationTargets, type PrimaryType } from '../protocol/authorizationTypes.js'
import type { Hex } from '../protocol/hex.js'
import type { Clock } from './clock.js'

/** One block: what is read together is read there, by its hash, so that it fits together. */
export interface BlockPoint {
  number: number
  hash: Hex
  /** Unix seconds. */
  timestamp: number
}

/** How far below the head a block lies that a reorganization is not expected to take back. */
export type Depth = number | 'safe' | 'finalized'

/** The chain at one moment. Permissions are read at `deep`; prohibitions there and at `head`. */
export interface Look {
  head: BlockPoint
  /** The block at the stated depth: `head` itself where that is 0. */
  deep: BlockPoint
}

/** The chain as the enclave sees it, through its own nodes. All throw ChainUnavailableError, ChainAnswerError. */
export interface ChainState extends Contracts {
  readonly chainId: number
  readonly addresses: ContractAddresses
  /**
   * The newest block and the one at the stated depth, as both operators' nodes have them.
   * @throws ChainAnswerError when the head is older than the bound, or lower than before, or the nodes disagree
   */
  look(): Promise<Look>
  usdc(): Promise<Usdc>
  /** Whether an authorization has taken effect, by the first node alone: nothing is decided by it. */
  isUsed(primaryType: PrimaryType, digest: Hex): Promise<boolean>
  /** Unix seconds at which the platform's pause ends; 0 when it is not paused. */
  pausedUntil(block: BlockPoint): Promise<number>
  /** Unix seconds of the escrow's creation. */
  deployedAt(): Promise<number>
}

export interface ChainOptions {
  provider: JsonRpcApiProvider
  /** A node of another operator, which must say the same. */
  witness?: JsonRpcApiProvider | undefined
  chainId: number
  addresses: ContractAddresses
  depth: Depth
  /** A head that is older than this, by the enclave's own clock, is not acted on. Milliseconds. */
  maxHeadAgeMs: number
  clock: Clock
}

/** How often the witness is asked for a block that it does not have yet, and the pause in between. */
const WITNESS_TRIES = 4
const WITNESS_PAUSE_MS = 500

export function createChainState(options: ChainOptions): ChainState {
  const { provider, witness, chainId, addresses, depth, maxHeadAgeMs, clock } = options
  const first = callerOf(provider)
  const caller = witness ? agreeing(first, callerOf(witness)) : first
  const contracts = createContracts(caller, addresses)
  const alone = createContracts(first, addresses)
  let highest = 0

  /** With a witness, the lower of what the two operators call `safe` or `finalized`: one of them cannot lift it. */
  async function deepOf(head: BlockPoint): Promise<BlockPoint> {
    if (depth === 0) return head
    if (typeof depth === 'number') return blockAt(provider, Math.max(head.number - depth, 0))
    const [deep, other] = await Promise.all([
      blockAt(provider, depth),
      witness ? blockAt(witness, depth) : undefined,
    ])
    const lower = other && other.number < deep.number ? await blockAt(provider, other.number) : deep
    if (lower.number > head.number) throw new ChainAnswerError('the stated depth lies above the head')
    return lower
  }

  /**
   * By number: a node may keep the blocks that a reorganization took back, and know them by their hash.
   * @throws ChainAnswerError unless this very block is part of the witness's chain
   */
  async function assertWitnessed(block: BlockPoint): Promise<void> {
    if (!witness) return
    for (let tries = 1; ; tries++) {
      const seen = await witness.getBlock(block.number)
      if (seen?.hash === block.hash && seen.timestamp === block.timestamp) return
      if (tries === WITNESS_TRIES) throw new ChainAnswerError('the nodes disagree on a block')
      await clock.sleep(WITNESS_PAUSE_MS)
    }
  }

  const usdcAddress = once(() => contracts.escrow.usdc())
  const authorityAddress = once(() => contracts.escrow.authority())
  return {
    ...contracts,
    chainId,
    addresses,
    async look() {
      const head = await blockAt(provider, 'latest')
      if (head.number < highest) throw new ChainAnswerError('the node lags behind')
      if (clock.now() - head.timestamp * 1_000 > maxHeadAgeMs) throw new ChainAnswerError('the head is old')
      const deep = await deepOf(head)
      await assertWitnessed(head)
      if (deep !== head) await assertWitnessed(deep)
      highest = head.number
      return { head, deep }
    },
    usdc: async () => createUsdc(caller, await usdcAddress()),
    isUsed(primaryType, digest) {
      const { contract } = authorizationTargets[primaryType]
      if (contract === 'ConfidentialLedger') return alone.ledger.usedDigest(digest)
      return contract === 'OrderEscrow' ? alone.escrow.usedDigest(digest) : alone.pool.usedDigest(digest)
    },
    pausedUntil: async ({ hash }) => createAuthority(caller, await authorityAddress()).pausedUntil(hash),
    deployedAt: once(() => contracts.escrow.deployedAt()),
  }
}

/** What a deployment never changes is asked for once, and again after a failure. */
function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let known: Promise<T> | undefined
  return () => {
    known ??= ask().catch((error) => {
      known = undefined
      throw error
    })
    return known
  }
}

async function blockAt(provider: JsonRpcApiProvider, tag: BlockTag): Promise<BlockPoint> {
  const block = await provider.getBlock(tag)
  if (block === null || block.hash === null) throw new ChainAnswerError('the node has no such block')
  if (typeof tag === 'number' && block.number !== tag) {
    throw new ChainAnswerError('the node answers with another block')
  }
  return { number: block.number, hash: `0x${block.hash.slice(2)}`, timestamp: block.timestamp }
}

/** Views at a block's hash (EIP-1898): a reorganization between two reads cannot mix two chains, nor read an old one. */
function callerOf(provider: JsonRpcApiProvider): ViewCaller {
  return {
    async call({ blockTag, ...call }) {
      return z.string().parse(await provider.send('eth_call', [call, blockOf(blockTag)]))
    },
  }
}

function blockOf(tag: BlockTag): string | { blockHash: string; requireCanonical: true } {
  if (typeof tag !== 'string') return toQuantity(tag)
  return tag.startsWith('0x') ? { blockHash: tag, requireCanonical: true } : tag
}

/** Two nodes that must give the same answer, byte for byte. */
function agreeing(first: ViewCaller, witness: ViewCaller): ViewCaller {
  return {
    async call(request) {
      const [answer, second] = await Promise.all([first.call(request), witness.call(request)])
      if (answer !== second) throw new ChainAnswerError('the nodes disagree')
      return answer
    },
  }
}
