import type { BlockTag } from 'ethers'
import type { Contracts } from '../../chain/contracts.js'
import type { Lenses } from '../../chain/lenses.js'
import { ZERO_ADDRESS } from '../../protocol/address.js'
import type { InstitutionView } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import { bytes32ToName } from '../../protocol/identifiers.js'
import { bySymbol, type ListedSymbols, readWithListed } from './listedSymbols.js'

interface InstitutionDeps {
  readonly contracts: Contracts
  readonly lenses: Pick<Lenses, 'poolUsdc' | 'equities'>
  readonly symbols: ListedSymbols
}

/**
 * What anyone may know of an institution at a block, and the totals of the whole platform's pool: there is no balance of
 * one institution to show. Null when the institution is not registered.
 */
export function createInstitutionView(
  deps: InstitutionDeps,
): (orgId: Hex, block: BlockTag) => Promise<InstitutionView | null> {
  const { registry, ledger, escrow } = deps.contracts
  return async (orgId, block) => {
    const [admin, walletCount, rulesVersion, openOrders, pool] = await Promise.all([
      registry.adminOf(orgId, block),
      registry.walletCount(orgId, block),
      ledger.policyVersion(orgId, block),
      escrow.openOrdersOf(orgId, block),
      readPool(deps, block),
    ])
    if (admin === ZERO_ADDRESS) return null
    return { orgId, name: bytes32ToName(orgId), admin, walletCount, rulesVersion, openOrders, pool }
  }
}

/**
 * The pool's own holdings: shares that were withdrawn to wallets are not the pool's any more. An equity that was
 * delisted since the server's start is told while the pool holds some of it.
 */
async function readPool(deps: InstitutionDeps, block: BlockTag): Promise<InstitutionView['pool']> {
  const { escrow, pool } = deps.contracts
  const [usdc, openOrders, { listed, facts }] = await Promise.all([
    deps.lenses.poolUsdc(block),
    escrow.openOrders(block),
    readWithListed(deps, pool.address, block),
  ])
  const equities = [...facts]
    .map(([symbol, { balance }]) => ({ symbol, shares: balance }))
    .filter(({ symbol, shares }) => listed.includes(symbol) || shares > 0n)
    .sort(bySymbol)
  return { usdc, openOrders, equities }
}
