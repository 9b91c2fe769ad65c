import * as z from 'zod'
import { ChainAnswerError } from '../chain/errors.js'
import { blockCall, blockSchema, resultOf } from '../chain/jsonRpc.js'
import type { Rpc } from '../chain/rpc.js'
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

export interface HeadsOptions {
  readonly rpc: Pick<Rpc, 'send'>
  /** A node of another operator, which must have the same blocks. */
  readonly witness?: Pick<Rpc, 'send'> | undefined
  readonly depth: Depth
  /** A head that is older than this, by the enclave's own clock, is not acted on. Milliseconds. */
  readonly maxHeadAgeMs: number
  /** Between two looks while a run waits for a block. Milliseconds. */
  readonly pollMs: number
  readonly clock: Clock
  /** The chain is shorter than it was: what is known of it may be gone. */
  readonly onShorter: () => void
}

/** How often the witness is asked for a block that it does not have yet, and the pause in between. */
const WITNESS_TRIES = 4
const WITNESS_PAUSE_MS = 500

/** The newest block, as all runs of a process see it. All methods throw ChainUnavailableError, ChainAnswerError. */
export function createHeads(options: HeadsOptions) {
  const { rpc, witness, depth, maxHeadAgeMs, pollMs, clock, onShorter } = options
  let last: Look | undefined
  let asking: Promise<unknown> = Promise.resolve()
  let next: Promise<Look> | undefined
  let later: Promise<Look> | undefined

  /** With a witness, the lower of what the two operators call `safe` or `finalized`: one of them cannot lift it. */
  async function deepOf(head: BlockPoint): Promise<BlockPoint> {
    if (depth === 0) return head
    if (typeof depth === 'number') return blockAt(rpc, Math.max(head.number - depth, 0))
    const [deep, other] = await Promise.all([
      blockAt(rpc, depth),
      witness ? blockAt(witness, depth) : undefined,
    ])
    const lower = other && other.number < deep.number ? await blockAt(rpc, other.number) : deep
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
      const seen = await findBlock(witness, block.number)
      if (seen?.hash === block.hash && seen.timestamp === block.timestamp) return
      if (tries === WITNESS_TRIES) throw new ChainAnswerError('the nodes disagree on a block')
      await clock.sleep(WITNESS_PAUSE_MS)
    }
  }

  async function ask(): Promise<Look> {
    const before = last
    const head = await blockAt(rpc, 'latest')
    if (before && head.number < before.head.number) {
      if (last === before) last = undefined
      onShorter()
      throw new ChainAnswerError('the chain is shorter than it was, or the node lags behind')
    }
    if (clock.now() - head.timestamp * 1_000 > maxHeadAgeMs) throw new ChainAnswerError('the head is old')
    // Its depth and its witness were asked for when this head was new.
    if (last?.head.hash === head.hash) return last
    const deep = await deepOf(head)
    await assertWitnessed(head)
    if (deep !== head) await assertWitnessed(deep)
    const look = { head, deep }
    // A request that overtook this one may have seen a later block.
    if (last === undefined || last.head.number <= head.number) last = look
    return look
  }

  function look(): Promise<Look> {
    next ??= asking
      .catch(() => undefined)
      .then(() => {
        next = undefined
        const asked = ask()
        asking = asked
        return asked
      })
    return next
  }

  return {
    /** A look that began after the call. Callers share it, so there is one request at a time. */
    look,
    /** A look by a request of its own, which no other caller shares. */
    lookAlone: ask,
    /** A look after a pause. All callers that wait for a block share both. */
    lookLater(): Promise<Look> {
      const pause = () =>
        clock.sleep(pollMs).finally(() => {
          later = undefined
        })
      later ??= pause().then(look)
      return later
    },
  }
}

export type Heads = ReturnType<typeof createHeads>

/** Null when the node has no such block. */
async function findBlock(rpc: Pick<Rpc, 'send'>, tag: number | string): Promise<BlockPoint | null> {
  const [answer] = await rpc.send([blockCall(tag)])
  return resultOf(answer, z.nullable(blockSchema))
}

async function blockAt(rpc: Pick<Rpc, 'send'>, tag: number | string): Promise<BlockPoint> {
  const block = await findBlock(rpc, tag)
  if (block === null) throw new ChainAnswerError('the node has no such block')
  if (typeof tag === 'number' && block.number !== tag) {
    throw new ChainAnswerError('the node answers with another block')
  }
  const { number, hash, timestamp } = block
  return { number, hash, timestamp }
}
