import { z } from 'zod'
import type { Hex } from '../protocol/hex.js'
import { hexToBytes } from '../protocol/hex.js'
import { accountIdOf } from '../protocol/identifiers.js'
import { type BlobPlace, ledgerKey, openBlob, paddedBytesOf, sealBlob } from '../protocol/ledgerBlob.js'
import { type Portfolio, portfolioSchema } from '../protocol/portfolio.js'
import { sealUserBlob } from '../protocol/userBlob.js'
import type { ChainState } from './chainState.js'
import { RunFailure } from './failures.js'
import type { BlockPoint } from './heads.js'

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

/** A portfolio sealed for both its readers, as every authorization that writes one carries it. */
export interface SealedPortfolio {
  version: bigint
  /** The ledger's running hash before this write. */
  previous: Hex
  enclaveBlob: Hex
  userBlob: Hex
}

export interface PortfolioStore {
  /** @throws RunFailure `ledger-unreadable`: a portfolio that does not open is never taken for an empty one */
  load(account: Hex, block: BlockPoint): Promise<StoredPortfolio>
  /** Seals what is to be written next, after what is stored. */
  seal(
    account: Hex,
    portfolio: Portfolio,
    stored: Omit<StoredPortfolio, 'portfolio'>,
  ): Promise<SealedPortfolio>
}

export function createPortfolioStore(chain: ChainState, masterKey: Hex): PortfolioStore {
  const place = (id: Hex, version: bigint): BlobPlace => ({
    chainId: chain.chainId,
    ledger: chain.addresses.confidentialLedger,
    id,
    version,
  })
  const keyOf = (id: Hex) => ledgerKey(hexToBytes(masterKey), 'account', id)

  return {
    async load(account, block) {
      const id = accountIdOf(account)
      const [version, hash, blob] = await Promise.all([
        chain.ledger.portfolioVersion(id, block.hash),
        chain.ledger.portfolioHash(id, block.hash),
        chain.ledger.enclaveBlob(id, block.hash),
      ])
      const bytes = paddedBytesOf(blob)
      if (version === 0n) return { portfolio: null, version, hash, bytes }
      try {
        const portfolio = portfolioSchema.parse(await openBlob(blob, keyOf(id), place(id, version)))
        return { portfolio, version, hash, bytes }
      } catch {
        throw new RunFailure('ledger-unreadable')
      }
    },
    async seal(account, portfolio, stored) {
      const id = accountIdOf(account)
      const version = stored.version + 1n
      const value = z.encode(portfolioSchema, portfolio)
      const [enclaveBlob, userBlob] = await Promise.all([
        sealBlob(value, keyOf(id), place(id, version), undefined, stored.bytes),
        sealUserBlob(value, portfolio.userPubKey, id, version, stored.bytes),
      ])
      return { version, previous: stored.hash, enclaveBlob, userBlob }
    },
  }
}
