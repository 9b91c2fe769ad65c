import { LRUCache } from 'lru-cache'
import * as z from 'zod'
import { decodePolicy, encodePolicy } from '../protocol/compactPolicy.js'
import { carry, lateMoments } from '../protocol/corporateActions.js'
import { ProtocolError } from '../protocol/errors.js'
import type { Hex } from '../protocol/hex.js'
import { accountIdOf } from '../protocol/identifiers.js'
import {
  type BlobPlace,
  ivOf,
  openBlob,
  openBlobBytes,
  paddedBytesOf,
  partsOf,
  sealBlob,
  sealBlobBytes,
} from '../protocol/ledgerBlob.js'
import type { Policy } from '../protocol/policy.js'
import { type Portfolio, portfolioSchema } from '../protocol/portfolio.js'
import { sealUserBlob } from '../protocol/userBlob.js'
import type { ChainState } from './chainState.js'
import { RunFailure } from './failures.js'
import type { BlockPoint } from './heads.js'
import type { EnclaveKeys } from './keys/keys.js'
import { fits } from './room.js'

type LedgerKeys = Pick<EnclaveKeys, 'ledgerKey'>

/** An account's portfolio as it stands on chain; null when none was ever written. */
export interface StoredPortfolio {
  portfolio: Portfolio | null
  /** How often it has been written. */
  version: bigint
  /** The ledger's running hash of these writes. */
  hash: Hex
  /** Bytes of its padded plaintext. */
  bytes: number
  /** The corporate actions that it has followed, as the next write must name them. */
  followed: { count: number; listHash: Hex }
  /** The actions that were followed when it was written. */
  followedBefore: number
}

function placeIn({ chainId, addresses }: ChainState, id: Hex, version: bigint): BlobPlace {
  return { chainId, ledger: addresses.confidentialLedger, id, version }
}

/** Accounts with late dividends whose former portfolios are kept. */
const MAX_SEARCHES = 500

export function createPortfolioStore(chain: ChainState, keys: LedgerKeys) {
  const keyOf = (id: Hex) => keys.ledgerKey('account', id)
  /** A search of the chain may outlast its run: the next one joins it. */
  const searches = new LRUCache<string, ReturnType<ChainState['portfoliosAt']>>({ max: MAX_SEARCHES })

  /** The running hash stands for the whole history, so an answer stays true. */
  function portfoliosAt(moments: readonly number[], of: Parameters<ChainState['portfoliosAt']>[1]) {
    const name = [of.account, of.stored.hash, ...moments].join()
    const known = searches.get(name)
    if (known !== undefined) return known
    const search = chain.portfoliosAt(moments, of, ({ account, version, enclaveBlob }) =>
      opened(accountIdOf(account), version, enclaveBlob),
    )
    searches.set(name, search)
    search.catch(() => searches.delete(name))
    return search
  }

  async function opened(id: Hex, version: bigint, blob: Hex): Promise<Portfolio> {
    try {
      return portfolioSchema.parse(await openBlob(blob, keyOf(id), placeIn(chain, id, version)))
    } catch {
      throw new RunFailure('ledger-unreadable')
    }
  }

  return {
    /**
     * Carried over all corporate actions.
     * @throws RunFailure `ledger-unreadable`: a portfolio that does not open is never taken for an empty one
     */
    async load(account: Hex, block: BlockPoint): Promise<StoredPortfolio> {
      const id = accountIdOf(account)
      const [version, hash, blob, actions, listHash] = await Promise.all([
        chain.ledger.portfolioVersion(id, block.hash),
        chain.ledger.portfolioHash(id, block.hash),
        chain.ledger.enclaveBlob(id, block.hash),
        chain.actions(block),
        chain.listHash(block),
      ])
      const state = {
        version,
        hash,
        bytes: paddedBytesOf(blob),
        followed: { count: actions.length, listHash },
      }
      if (version === 0n) return { portfolio: null, ...state, followedBefore: 0 }
      const stored = await opened(id, version, blob)
      const moments = lateMoments(stored, actions)
      const of = { account, stored: { version, hash }, block }
      const earlier = moments.length === 0 ? undefined : await portfoliosAt(moments, of)
      return { portfolio: carry(stored, actions, earlier), ...state, followedBefore: stored.actions ?? 0 }
    },
    /**
     * Seals what is to be written next, after what is stored.
     * @throws RunFailure `portfolio-full`: admission leaves room for a dividend of each symbol, and more than that are unpaid
     */
    async seal(
      account: Hex,
      portfolio: Portfolio,
      stored: Omit<StoredPortfolio, 'portfolio' | 'followedBefore'>,
    ) {
      if (!fits(portfolio)) throw new RunFailure('portfolio-full')
      const id = accountIdOf(account)
      const version = stored.version + 1n
      const value = z.encode(portfolioSchema, portfolio)
      const [enclaveBlob, userBlob] = await Promise.all([
        sealBlob(value, keyOf(id), placeIn(chain, id, version), undefined, stored.bytes),
        sealUserBlob(value, portfolio.userPubKey, id, version, stored.bytes),
      ])
      const { hash: previous, followed } = stored
      return { version, previous, actions: followed.listHash, enclaveBlob, userBlob }
    },
  }
}

export type PortfolioStore = ReturnType<typeof createPortfolioStore>

/** Hex digits of the blobs whose rulebooks are kept open: some thirty of ten thousand employees. */
const MAX_OPENED = 2 ** 24

export function createPolicyStore(chain: ChainState, keys: LedgerKeys) {
  const keyOf = (id: Hex) => keys.ledgerKey('org', id)
  /** Most orders find the same rulebook on the chain, which can be long: it is read and opened once. */
  const opened = new LRUCache<string, Promise<Policy>>({ maxSize: MAX_OPENED })

  async function open(orgId: Hex, version: number, name: string, block: BlockPoint): Promise<Policy> {
    const blob = await chain.ledger.policyBlob(orgId, block.hash)
    const known = opened.get(name)
    if (known !== undefined) return known
    const opening = openBlobBytes(blob, keyOf(orgId), placeIn(chain, orgId, BigInt(version))).then(
      decodePolicy,
    )
    opened.set(name, opening, { size: blob.length })
    opening.catch(() => opened.delete(name))
    return opening
  }

  return {
    /**
     * An institution's rulebook as it stands on chain; null when none was published.
     * @throws RunFailure `ledger-unreadable`: a rulebook that does not open never counts as none
     */
    async load(orgId: Hex, block: BlockPoint): Promise<{ policy: Policy | null; version: number }> {
      const [version, digest] = await Promise.all([
        chain.ledger.policyVersion(orgId, block.hash),
        chain.ledger.policyDigest(orgId, block.hash),
      ])
      if (version === 0) return { policy: null, version }
      const name = [orgId, version, digest].join()
      try {
        return { policy: await (opened.get(name) ?? open(orgId, version, name, block)), version }
      } catch (error) {
        if (error instanceof ProtocolError) throw new RunFailure('ledger-unreadable')
        throw error
      }
    },
    /**
     * Seals what is to be written as `version`, which must be the stored one + 1. Where the chain has the first parts of this
     * very rulebook, the rest continues them.
     */
    async seal(orgId: Hex, policy: Policy, version: number, block: BlockPoint) {
      const place = placeIn(chain, orgId, BigInt(version))
      const encoded = encodePolicy(policy)
      const begun = await chain.ledger.pendingPolicyBlob(orgId, block.hash)
      const iv = begun === '0x' ? undefined : ivOf(begun)
      const blob = await sealBlobBytes(encoded, keyOf(orgId), place, iv)
      // The header holds the tag, so only the same plaintext continues. One of another, with this iv, must not leave the enclave.
      return partsOf(blob.startsWith(begun) ? blob : await sealBlobBytes(encoded, keyOf(orgId), place))
    },
  }
}

export type PolicyStore = ReturnType<typeof createPolicyStore>
