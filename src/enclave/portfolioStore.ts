import { z } from 'zod'
import type { Hex } from '../protocol/hex.js'
import { hexToBytes } from '../protocol/hex.js'
import { accountIdOf } from '../protocol/identifiers.js'
import { type BlobPlace, ledgerKey, openBlob, sealBlob } from '../protocol/ledgerBlob.js'
import { type Portfolio, portfolioSchema } from '../protocol/portfolio.js'
import { sealUserBlob } from '../protocol/userBlob.js'
import type { ChainState } from './chainState.js'
import { RunFailure } from './failures.js'

/** An account's portfolio as it stands on chain; null when none was ever written. */
export interface StoredPortfolio {
  portfolio: Portfolio | null
  /** How often it has been written. */
  version: bigint
}

/** A portfolio sealed for both its readers, as every authorization that writes one carries it. */
export interface SealedPortfolio {
  version: bigint
  enclaveBlob: Hex
  userBlob: Hex
}

export interface PortfolioStore {
  /** @throws RunFailure `ledger-unreadable`: a portfolio that does not open is never taken for an empty one */
  load(account: Hex, block: number): Promise<StoredPortfolio>
  /** Seals what is to be written as `version`, which must be the stored one + 1. */
  seal(account: Hex, portfolio: Portfolio, version: bigint): Promise<SealedPortfolio>
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
      const [version, blob] = await Promise.all([
        chain.ledger.portfolioVersion(id, block),
        chain.ledger.enclaveBlob(id, block),
      ])
      if (version === 0n) return { portfolio: null, version }
      try {
        const portfolio = portfolioSchema.parse(await openBlob(blob, keyOf(id), place(id, version)))
        return { portfolio, version }
      } catch {
        throw new RunFailure('ledger-unreadable')
      }
    },
    async seal(account, portfolio, version) {
      const id = accountIdOf(account)
      const value = z.encode(portfolioSchema, portfolio)
      const [enclaveBlob, userBlob] = await Promise.all([
        sealBlob(value, keyOf(id), place(id, version)),
        sealUserBlob(value, portfolio.userPubKey, id, version),
      ])
      return { version, enclaveBlob, userBlob }
    },
  }
}
