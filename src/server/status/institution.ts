import type { Provider } from 'ethers'
import type { Contracts } from '../../chain/contracts.js'
import { createUsdc, type Usdc } from '../../chain/usdc.js'
import { ZERO_ADDRESS } from '../../protocol/address.js'
import type { InstitutionView } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import { bytes32ToName, nameToBytes32 } from '../../protocol/identifiers.js'
import { bySymbol, type ListedSymbols, readWithListed } from './listedSymbols.js'

interface InstitutionDeps {
  readonly contracts: Contracts
  readonly provider: Provider
  readonly symbols: ListedSymbols
}

/**
 * What anyone may know of an institution, and the totals of the whole platform's pool: there is no balance of one
 * institution to show. Null when the institution is not registered.
 */
export function createInstitutionView(
  deps: InstitutionDeps,
): (orgId: Hex) => Promise<InstitutionView | null> {
  const { registry, ledger, escrow } = deps.contracts
  const readPool = createPoolReader(deps)
  return async (orgId) => {
    const [admin, walletCount, rulesVersion, openOrders, pool] = await Promise.all([
      registry.adminOf(orgId),
      registry.walletCount(orgId),
      ledger.policyVersion(orgId),
      escrow.openOrdersOf(orgId),
      readPool(),
    ])
    if (admin === ZERO_ADDRESS) return null
    return { orgId, name: bytes32ToName(orgId), admin, walletCount, rulesVersion, openOrders, pool }
  }
}

/**
 * The pool's own holdings: shares that were withdrawn to wallets are not the pool's any more. An equity that was
 * delisted since the server's start is told while the pool holds some of it.
 */
function createPoolReader({
  contracts,
  provider,
  symbols,
}: InstitutionDeps): () => Promise<InstitutionView['pool']> {
  const { escrow, token, pool } = contracts
  // An immutable of the escrow: asked for once.
  let usdc: Usdc | undefined
  return async () => {
    usdc ??= createUsdc(provider, await escrow.usdc())
    const [balance, openOrders, { listed, values }] = await Promise.all([
      usdc.balanceOf(pool.address),
      escrow.openOrders(),
      readWithListed(symbols, (symbol) => token.balanceOf(pool.address, nameToBytes32(symbol))),
    ])
    const equities = [...values]
      .map(([symbol, shares]) => ({ symbol, shares }))
      .filter(({ symbol, shares }) => listed.includes(symbol) || shares > 0n)
      .sort(bySymbol)
    return { usdc: balance, openOrders, equities }
  }
}
