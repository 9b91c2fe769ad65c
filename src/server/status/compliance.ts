import type { BlockTag } from 'ethers'
import type { EquityToken } from '../../chain/equityToken.js'
import type { ComplianceView } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import { nameToBytes32 } from '../../protocol/identifiers.js'
import { bySymbol, type ListedSymbols, readWithListed } from './listedSymbols.js'

/**
 * A wallet's flags at a block, for every listed equity, and for those delisted since the server's start, whose shares the
 * wallet may still hold. KYC is the wallet's own and the same in each.
 */
export function createComplianceView(deps: {
  readonly token: EquityToken
  readonly symbols: ListedSymbols
}): (wallet: Hex, block: BlockTag) => Promise<ComplianceView> {
  const { token, symbols } = deps
  return async (wallet, block) => {
    const [kyc, { listed, values }] = await Promise.all([
      token.isKyc(wallet, block),
      readWithListed(symbols, block, (symbol) => token.isFrozen(nameToBytes32(symbol), wallet, block)),
    ])
    const equities = [...values].map(([symbol, frozen]) => ({
      symbol,
      kyc,
      listed: listed.includes(symbol),
      frozen,
    }))
    return { address: wallet, equities: equities.sort(bySymbol) }
  }
}
