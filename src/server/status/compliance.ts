import type { BlockTag } from 'ethers'
import type { EquityToken } from '../../chain/equityToken.js'
import type { Lenses } from '../../chain/lenses.js'
import type { ComplianceView } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import { bySymbol, type ListedSymbols, readWithListed } from './listedSymbols.js'

/**
 * A wallet's flags at a block, for every listed equity, and for those delisted since the server's start, whose shares the
 * wallet may still hold. KYC is the wallet's own and the same in each.
 */
export function createComplianceView(deps: {
  readonly token: EquityToken
  readonly lenses: Pick<Lenses, 'equities'>
  readonly symbols: ListedSymbols
}): (wallet: Hex, block: BlockTag) => Promise<ComplianceView> {
  return async (wallet, block) => {
    const [kyc, { listed, facts }] = await Promise.all([
      deps.token.isKyc(wallet, block),
      readWithListed(deps, wallet, block),
    ])
    const equities = [...facts].map(([symbol, { frozen }]) => ({
      symbol,
      kyc,
      listed: listed.includes(symbol),
      frozen,
    }))
    return { address: wallet, equities: equities.sort(bySymbol) }
  }
}
