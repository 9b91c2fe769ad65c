import { z } from 'zod'
import { decodePolicy, encodePolicy } from '../protocol/compactPolicy.js'
import type { Hex } from '../protocol/hex.js'
import { accountIdOf } from '../protocol/identifiers.js'
import {
  type BlobPlace,
  openBlob,
  openBlobBytes,
  paddedBytesOf,
  sealBlob,
  sealBlobBytes,
} from '../protocol/ledgerBlob.js'
import type { Policy } from '../protocol/policy.js'
import { type Portfolio, portfolioSchema } from '../protocol/portfolio.js'
import { sealUserBlob } from '../protocol/userBlob.js'
import type { ChainState } from './chainState.js'
import { RunFailure } from './failures.js'
import type { BlockPoint } from './heads.js'
import type { EnclaveKeys } from './keys.js'

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
}

function placeIn({ chainId, addresses }: ChainState, id: Hex, version: bigint): BlobPlace {
  return { chainId, ledger: addresses.confidentialLedger, id, version }
}

export function createPortfolioStore(chain: ChainState, keys: LedgerKeys) {
  const keyOf = (id: Hex) => keys.ledgerKey('account', id)

  return {
    /** @throws RunFailure `ledger-unreadable`: a portfolio that does not open is never taken for an empty one */
    async load(account: Hex, block: BlockPoint): Promise<StoredPortfolio> {
      const id = accountIdOf(account)
      const [version, hash, blob] = await Promise.all([
        chain.ledger.portfolioVersion(id, block.hash),
        chain.ledger.portfolioHash(id, block.hash),
        chain.ledger.enclaveBlob(id, block.hash),
      ])
      const bytes = paddedBytesOf(blob)
      if (version === 0n) return { portfolio: null, version, hash, bytes }
      try {
        const portfolio = portfolioSchema.parse(await openBlob(blob, keyOf(id), placeIn(chain, id, version)))
        return { portfolio, version, hash, bytes }
      } catch {
        throw new RunFailure('ledger-unreadable')
      }
    },
    /** Seals what is to be written next, after what is stored. */
    async seal(account: Hex, portfolio: Portfolio, stored: Omit<StoredPortfolio, 'portfolio'>) {
      const id = accountIdOf(account)
      const version = stored.version + 1n
      const value = z.encode(portfolioSchema, portfolio)
      const [enclaveBlob, userBlob] = await Promise.all([
        sealBlob(value, keyOf(id), placeIn(chain, id, version), undefined, stored.bytes),
        sealUserBlob(value, portfolio.userPubKey, id, version, stored.bytes),
      ])
      return { version, previous: stored.hash, enclaveBlob, userBlob }
    },
  }
}

export type PortfolioStore = ReturnType<typeof createPortfolioStore>

export function createPolicyStore(chain: ChainState, keys: LedgerKeys) {
  const keyOf = (id: Hex) => keys.ledgerKey('org', id)
  /** Each institution's rulebook as it was opened last: most orders find the same blob on the chain. */
  const opened = new Map<Hex, { blob: Hex; version: number; policy: Policy }>()

  return {
    /**
     * An institution's rulebook as it stands on chain; null when none was published.
     * @throws RunFailure `ledger-unreadable`: a rulebook that does not open never counts as none
     */
    async load(orgId: Hex, block: BlockPoint): Promise<{ policy: Policy | null; version: number }> {
      const [version, blob] = await Promise.all([
        chain.ledger.policyVersion(orgId, block.hash),
        chain.ledger.policyBlob(orgId, block.hash),
      ])
      if (version === 0) return { policy: null, version }
      const known = opened.get(orgId)
      if (known?.blob === blob && known.version === version) return { policy: known.policy, version }
      try {
        const opening = openBlobBytes(blob, keyOf(orgId), placeIn(chain, orgId, BigInt(version)))
        const policy = decodePolicy(await opening)
        opened.set(orgId, { blob, version, policy })
        return { policy, version }
      } catch {
        throw new RunFailure('ledger-unreadable')
      }
    },
    /** Seals what is to be written as `version`, which must be the stored one + 1. */
    seal: (orgId: Hex, policy: Policy, version: number) =>
      sealBlobBytes(encodePolicy(policy), keyOf(orgId), placeIn(chain, orgId, BigInt(version))),
  }
}

export type PolicyStore = ReturnType<typeof createPolicyStore>
