import type { Listings } from '../../src/client/index.js'
import { addressSchema } from '../../src/protocol/address.js'
import { equitySymbolSchema } from '../../src/protocol/identifiers.js'

/** The change that the fields ask for, or what is wrong with them. An empty wallet asks for a listing. */
export function changeOf(symbolText: string, walletText: string, { equities, frozen }: Listings) {
  const symbol = equitySymbolSchema.safeParse(symbolText.trim().toUpperCase()).data
  const wallet = walletText.trim() === '' ? null : addressSchema.safeParse(walletText.trim()).data
  const symbolFault = faultOfSymbol()
  const walletFault = faultOfWallet()
  const isReady = symbol !== undefined && wallet !== undefined && symbolFault === null && walletFault === null
  return { symbolFault, walletFault, change: isReady ? { symbol, wallet } : null }

  function faultOfSymbol(): string | null {
    if (symbolText.trim() === '') return null
    if (symbol === undefined)
      return 'Enter a ticker symbol: a letter, then up to ten letters, digits or dots. USDC is no equity.'
    const isListed = equities.some((equity) => equity.symbol === symbol && equity.isListed)
    return wallet === null && isListed ? `${symbol} is listed already.` : null
  }

  function faultOfWallet(): string | null {
    if (wallet === null) return null
    if (wallet === undefined) return 'Enter a whole address.'
    const isFrozen = frozen.some((holding) => holding.symbol === symbol && holding.wallet === wallet)
    return isFrozen ? 'This holding is frozen already.' : null
  }
}
