import * as z from 'zod/mini'
import { isChainFailure } from '../../chain/errors.js'
import { blockCall, blockSchema, resultOf } from '../../chain/jsonRpc.js'
import type { BlockId } from '../../chain/logReader.js'
import type { CorporateAction } from '../../protocol/corporateActions.js'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import { accountIdOf } from '../../protocol/identifiers.js'
import { portfolioHashAfter } from '../../protocol/ledgerBlob.js'
import { PORTFOLIO_ABI } from '../abis.js'
import type { ActionList } from '../actionList.js'
import { type Carrier, createCarrier } from '../carrier.js'
import { createContract } from '../contract.js'
import { ClientError } from '../errors.js'
import { toTradingError } from '../foreignErrors.js'
import type { HistoryStore } from '../keptLists.js'
import type { Keyring } from '../keyring.js'
import { createNode, type Node } from '../node.js'
import type { PlatformContracts } from '../platform.js'
import type { Wallet } from '../wallet.js'
import { createHistoryCache, type KeptHistory } from './cache.js'
import {
  actionEntry,
  afterActions,
  afterWrite,
  endWithoutFill,
  type Known,
  NOTHING_WRITTEN,
  type Step,
  unknownBefore,
  type Write,
} from './derive.js'
import { type EntryBody, type HistoryCursor, type HistoryEntry, isAfter } from './entries.js'
import { createFactReader, type Fact, type FactReader, REORGANIZED } from './facts.js'

export interface HistoryOptions {
  /** The first block to read; default 0. The block of the contracts' deployment saves queries. */
  readonly fromBlock?: number | undefined
  /** Only entries after this one. Its block must still be on the chain. */
  readonly after?: HistoryCursor | undefined
  /** Blocks that must hold an event, its own included, until its entry is final; default 12. */
  readonly confirmations?: number | undefined
  /** Withholds entries that are not final. */
  readonly finalOnly?: boolean | undefined
  /** Keeps the final part, sealed, so that the next call reads only later blocks. */
  readonly store?: HistoryStore | undefined
  /** Blocks that one query spans at most; default 50,000. Halved when the node refuses. */
  readonly maxBlocks?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** An account's history, as far as the head at the time of the call. */
export interface AccountHistory {
  /** Oldest first. */
  readonly entries: readonly HistoryEntry[]
  /** Unix seconds up to which no event can come or go: the time of the newest block with the confirmations. */
  readonly finalUntil: number
}

const CONFIRMATIONS = 12

/** How often a history is read whose chain is reorganized meanwhile. */
const ATTEMPTS = 3

interface HistoryDeps {
  readonly wallet: Wallet
  readonly contracts: () => Promise<Pick<PlatformContracts, 'escrow' | 'ledger' | 'actions'>>
  readonly keys: Keyring
  readonly actionList: ActionList
}

/**
 * Reads an account's history from the chain alone, and anew after a reorganization.
 * @throws ClientError `chain-reorganized` when the block of `after` is no longer on the chain, or blocks that were read are
 *   not, time after time; `unexpected-answer`, `node-unavailable`, `no-provider`, and those of the keys
 */
export async function readHistory(deps: HistoryDeps, options: HistoryOptions): Promise<AccountHistory> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await readOnce(deps, options)
    } catch (error) {
      const failure = isChainFailure(error) ? toTradingError(error) : error
      const isReorganized = failure instanceof ClientError && failure.code === 'chain-reorganized'
      if (!isReorganized || attempt === ATTEMPTS) throw failure
    }
  }
}

async function readOnce(deps: HistoryDeps, options: HistoryOptions): Promise<AccountHistory> {
  const { wallet, keys } = deps
  const { after, store, signal, finalOnly = false, confirmations = CONFIRMATIONS } = options
  const rpc = createNode(wallet, signal)
  const [account, chainId, contracts] = await Promise.all([
    wallet.account(),
    wallet.chainId(),
    deps.contracts(),
  ])
  const place = { chainId, ledger: contracts.ledger, account }
  const facts = createFactReader({ rpc, wallet, contracts, ...place, keys, maxBlocks: options.maxBlocks })
  if (after) await assertOnChain(rpc, { number: after.blockNumber, hash: after.blockHash })
  const atHead = await readHead(wallet, place)
  const from = options.fromBlock ?? (store ? 0 : (after?.blockNumber ?? 0))
  const cache = store ? createHistoryCache(store, place, keys) : null
  const kept = (await cache?.load()) ?? null
  const isUsable = kept !== null && (await canUse(kept, { rpc, from, keys }))
  const isNothingBefore = async () =>
    atHead.version === 0n || (await versionAt(wallet, place, from - 1)) === 0n
  const carrier = createCarrier({ rpc, ledger: contracts.ledger, account, keys })
  const actions = () => deps.actionList(wallet, contracts.actions, atHead.number)
  const walk = createWalk(
    { facts, isNothingBefore, carrier, actions },
    isUsable ? kept : { from, last: null, known: null, entries: [] },
  )
  const isAsked = (entry: HistoryEntry) =>
    entry.cursor.blockNumber >= from && (after === undefined || isAfter(entry, after))

  const confirmedTo = atHead.number - confirmations + 1
  try {
    while (walk.next() <= confirmedTo) await walk.read(confirmedTo, true)
  } finally {
    const state = walk.state()
    if (state !== null) await cache?.save({ ...state, keys: keys.drawn() })
  }
  const finalUntil = await timeOf(rpc, Math.max(0, confirmedTo))
  if (!finalOnly) {
    while (walk.next() <= atHead.number) await walk.read(atHead.number, false)
    await walk.assertWhole(atHead)
  }
  return { entries: walk.entries().filter(isAsked), finalUntil }
}

interface Head {
  readonly number: number
  readonly version: bigint
  readonly hash: string
}

/** The head, and the portfolio's version and hash there: they show whether a node left out an event. */
async function readHead(
  wallet: Wallet,
  { ledger, account }: { readonly ledger: Hex; readonly account: Hex },
): Promise<Head> {
  const number = await wallet.reads.blockNumber()
  const contract = createContract({ wallet, address: ledger, abi: PORTFOLIO_ABI })
  const id = accountIdOf(account)
  const [version, hash] = await Promise.all([
    contract.read('portfolioVersion', [id], z.bigint(), number),
    contract.read('portfolioHash', [id], bytes32Schema, number),
  ])
  return { number, version, hash }
}

/** The portfolio's version at a past block; null where the node does not keep the state of that block. */
async function versionAt(
  wallet: Wallet,
  { ledger, account }: { readonly ledger: Hex; readonly account: Hex },
  block: number,
): Promise<bigint | null> {
  const contract = createContract({ wallet, address: ledger, abi: PORTFOLIO_ABI })
  try {
    return await contract.read('portfolioVersion', [accountIdOf(account)], z.bigint(), block)
  } catch (error) {
    // The block is older than the ledger.
    return error instanceof ClientError && error.code === 'untrusted-escrow' ? 0n : null
  }
}

/** The walk's start: a kept history, or a block. */
interface Start {
  readonly from: number
  readonly last: BlockId | null
  readonly known: Known | null
  readonly entries: readonly HistoryEntry[]
}

interface WalkDeps {
  readonly facts: FactReader
  /** Whether the portfolio had no version before the walk's start; false while that is unknown. */
  readonly isNothingBefore: () => Promise<boolean>
  readonly carrier: Carrier
  /** The list of corporate actions at the head. */
  readonly actions: () => Promise<readonly CorporateAction[]>
}

interface Carry {
  readonly known: Known
  readonly uncounted: readonly CorporateAction[]
}

/** Goes along the chain from its start and derives the entries. */
function createWalk({ facts, isNothingBefore, carrier, actions }: WalkDeps, start: Start) {
  const { from } = start
  const entries = [...start.entries]
  let { last, known } = start
  let isChanged = false

  /** The state before the first event of a walk that begins in the middle of the history. */
  async function knownBefore(fact: Fact): Promise<Known> {
    const version = fact.is === 'written' ? fact.write.version : null
    if (from === 0 || version === 1n) return NOTHING_WRITTEN
    // A search for a version that does not exist would go back to block 0.
    if (version === null && (await isNothingBefore())) return NOTHING_WRITTEN
    const write = await facts.lastWrite({ from: 0, to: from - 1 })
    if (write !== null) return afterWrite(unknownBefore(write.version), write).known
    return version === null ? NOTHING_WRITTEN : unknownBefore(version)
  }

  /** The state once the list has so many entries. */
  async function carriedTo(count: number, before: Known, head: number): Promise<Carry> {
    const { stored, version, hash } = before
    if (count <= before.actions) return { known: before, uncounted: [] }
    if (stored === null) return { known: afterActions(before, count, null), uncounted: [] }
    const carried = await carrier({ portfolio: stored, version, hash }, await listed(count), head)
    return { known: afterActions(before, count, carried.portfolio), uncounted: carried.uncounted }
  }

  /** The first entries of the list. */
  async function listed(count: number): Promise<readonly CorporateAction[]> {
    if (count === 0) return []
    const all = await actions()
    if (all.length < count) throw reorganized()
    return all.slice(0, count)
  }

  async function afterEnacted(before: Known, index: number, head: number): Promise<Step> {
    const { known: then } = await carriedTo(index, before, head)
    const { known: now, uncounted } = await carriedTo(index + 1, then, head)
    const all = await listed(index + 1)
    const action = all[index]
    if (action === undefined || then === now) return { known: now, bodies: [] }
    return { known: now, bodies: actionEntry([then, now], action, all, uncounted.includes(action)) }
  }

  async function afterOpened(before: Known, write: Write, head: number): Promise<Step> {
    const { opened, call, version } = write
    if (typeof opened === 'string' || call === null) return afterWrite(before, write)
    const { known: then } = await carriedTo(opened.actions ?? 0, before, head)
    const hash = portfolioHashAfter(call.previous, call)
    const carried = await carrier({ portfolio: opened, version, hash }, await listed(then.actions), head)
    return afterWrite(then, write, carried.portfolio)
  }

  /** @throws ClientError `unexpected-answer` where a walk that sees all of the list has not seen so many actions of it */
  function assertListed(before: Known, count: number): void {
    if (from === 0 && before.actions !== count) throw leftOut('corporate actions')
  }

  async function stepOf(fact: Fact): Promise<Step | { readonly bodies: readonly EntryBody[] }> {
    if (fact.is === 'opened') {
      const { orderId, escrowed, deposit, deadline } = fact
      return { bodies: [{ kind: 'opened', orderId, escrowed, ...(deposit && { deposit }), deadline }] }
    }
    const before = known ?? (await knownBefore(fact))
    const head = fact.log.blockNumber
    if (fact.is === 'ended') return { known: before, bodies: [endWithoutFill(before, fact)] }
    if (fact.is === 'enacted') {
      assertListed(before, fact.index)
      return afterEnacted(before, fact.index, head)
    }
    assertFollows(before, fact)
    const { opened } = fact.write
    if (typeof opened !== 'string') assertListed(before, Math.max(before.actions, opened.actions ?? 0))
    return afterOpened(before, fact.write, head)
  }

  return {
    next: () => (last === null ? from : last.number + 1),
    entries: (): readonly HistoryEntry[] => entries,
    /** Adds the entries of the next blocks, as many as the node takes, up to `to`. */
    async read(to: number, isFinal: boolean): Promise<void> {
      const { piece, facts: found } = await facts.read({ from: last === null ? from : last.number + 1, to })
      if (last !== null && piece.parent?.hash !== last.hash) throw reorganized()
      const added: HistoryEntry[] = []
      for (const fact of found) {
        const step = await stepOf(fact)
        if ('known' in step) known = step.known
        added.push(...step.bodies.map((body, part) => placed(body, fact, { part, isFinal })))
      }
      last = { number: piece.last.number, hash: piece.last.hash }
      isChanged = true
      entries.push(...added)
    },
    /** For the cache; null when nothing was read. */
    state: () => (isChanged && last !== null ? { from, last, known, entries } : null),
    /** @throws ClientError `unexpected-answer` when the ledger has versions, or the list has actions, that no event showed */
    async assertWhole({ version, hash }: Head): Promise<void> {
      assertListed(known ?? NOTHING_WRITTEN, (await actions()).length)
      if (known === null && from > 0) return
      const { version: seen, hash: seenHash } = known ?? NOTHING_WRITTEN
      if (seen !== version || (seenHash ?? hash) !== hash) throw leftOut('the portfolio')
    },
  }
}

/** Versions come one after another, and each names the running hash of its predecessors. */
function assertFollows(known: Known, { write }: Extract<Fact, { is: 'written' }>): void {
  const previous = write.call?.previous ?? known.hash
  if (write.version !== known.version + 1n || (known.hash ?? previous) !== previous)
    throw leftOut('the portfolio')
}

function leftOut(what: string): ClientError {
  return new ClientError('unexpected-answer', `The node left out events of ${what}. Read it again.`)
}

function placed(
  body: EntryBody,
  { log, timestamp }: Fact,
  { part, isFinal }: { part: number; isFinal: boolean },
): HistoryEntry {
  const { blockNumber, blockHash, logIndex, txHash } = log
  return { ...body, timestamp, txHash, isFinal, cursor: { blockNumber, blockHash, logIndex, part } }
}

/** Whether a kept history goes back far enough, is still on the chain, and was read with all keys that are held now. */
async function canUse(
  kept: KeptHistory,
  { rpc, from, keys }: { rpc: Node; from: number; keys: Pick<Keyring, 'drawn'> },
): Promise<boolean> {
  const isSealed = kept.entries.some((entry) => entry.kind === 'unreadable' && entry.reason === 'other-key')
  if (kept.from > from || (isSealed && keys.drawn().some((key) => !kept.keys.includes(key)))) return false
  return isOnChain(rpc, kept.last)
}

async function assertOnChain(rpc: Node, block: BlockId): Promise<void> {
  if (!(await isOnChain(rpc, block))) throw reorganized()
}

/** Of a block, in Unix seconds. */
async function timeOf(rpc: Node, block: number): Promise<number> {
  const [answer] = await rpc.send([blockCall(block)])
  return resultOf(answer, blockSchema).timestamp
}

async function isOnChain(rpc: Node, { number, hash }: BlockId): Promise<boolean> {
  const [answer] = await rpc.send([blockCall(number)])
  return resultOf(answer, z.nullable(blockSchema))?.hash === hash
}

function reorganized(): ClientError {
  return new ClientError('chain-reorganized', REORGANIZED)
}
