import type { BlockTag } from 'ethers'
import { LRUCache } from 'lru-cache'
import type { Broker } from '../../broker/index.js'
import type { Contracts } from '../../chain/contracts.js'
import type { Lenses, WalletFacts } from '../../chain/lenses.js'
import type { ReadLane } from '../../chain/readLane.js'
import { sameAddress, ZERO_ADDRESS } from '../../protocol/address.js'
import type { ComplianceView, InstitutionView, WalletView } from '../../protocol/api.js'
import type { FeeSchedule } from '../../protocol/fees.js'
import { type Hex, ZERO_BYTES32 } from '../../protocol/hex.js'
import { bytes32ToName } from '../../protocol/identifiers.js'
import type { ClientReaders } from '../http/clients.js'
import { type ChainHead, createHeadReads } from '../reads/chainHead.js'
import { type ListedSymbols, readWithListed } from './listedSymbols.js'
import { createMarketBarsView, createMarketClockView, createMarketView } from './market.js'

/** The read-only views of the status routes. Each returns the very same object until its source may have changed. */
export type StatusViews = ReturnType<typeof createStatusViews>

export function createStatusViews(deps: {
  readonly head: Pick<ChainHead, 'current'>
  readonly readers: Pick<ClientReaders, 'shared'>
  readonly lane: ReadLane
  readonly contracts: Contracts
  readonly lenses: Lenses
  readonly symbols: ListedSymbols
  readonly broker: Broker
  readonly fees: FeeSchedule
  readonly marketClockMaxAgeMs: number
}) {
  const { head, readers, lane, contracts, lenses, symbols, broker, fees } = deps
  function atHead<T>(read: (id: Hex, block: BlockTag) => Promise<T>) {
    return createHeadReads({ head, read, lane })
  }
  return {
    wallet: atHead(async (wallet, block) => walletView(wallet, await lenses.wallet(wallet, block))),
    /** Null when the institution is not registered. */
    institution: atHead(createInstitutionView({ contracts, lenses, symbols }, readers)),
    compliance: atHead((wallet, block) => complianceView({ contracts, lenses, symbols }, wallet, block)),
    market: createMarketView({ broker, symbols, fees }),
    marketBars: createMarketBarsView({ broker, symbols }),
    marketClock: createMarketClockView({ broker, maxAgeMs: deps.marketClockMaxAgeMs }),
  }
}

/** The screen of a wallet. A founder waits to be admitted, and may still join another institution. An admin trades as an employee does. */
function walletView(address: Hex, facts: WalletFacts): WalletView {
  const isInside = facts.orgId !== ZERO_BYTES32
  const orgId = isInside ? facts.orgId : facts.foundingId
  const common = { address, leavingAt: facts.leavingAt === 0 ? null : facts.leavingAt }
  if (orgId === ZERO_BYTES32) {
    return {
      ...common,
      ...{ screen: 'found', orgId: null, role: null, waitingFor: [], invitation: invitationOf(facts) },
    }
  }
  const waitingFor: WalletView['waitingFor'] = []
  if (!isInside || !facts.admitted) waitingFor.push('admission')
  if (!facts.kyc) waitingFor.push('kyc')
  if (!isInside || facts.policyVersion === 0) waitingFor.push('policy')
  const role = sameAddress(facts.admin, address) ? 'admin' : 'employee'
  return {
    ...common,
    screen: waitingFor.length === 0 ? 'trade' : 'wait',
    orgId,
    role: isInside ? role : 'founder',
    waitingFor,
    // A wallet in an institution can join no other.
    invitation: isInside ? null : invitationOf(facts),
  }
}

function invitationOf({ invitationId, invitedBy }: WalletFacts): WalletView['invitation'] {
  return invitationId === ZERO_BYTES32 ? null : { orgId: invitationId, admin: invitedBy }
}

interface ViewDeps {
  readonly contracts: Contracts
  readonly lenses: Pick<Lenses, 'poolUsdc' | 'equities'>
  readonly symbols: ListedSymbols
}

/**
 * The public facts of an institution at a block, and the totals of the whole platform's pool: the chain shows no balance of
 * one institution. Null when the institution is not registered.
 */
function createInstitutionView(deps: ViewDeps, readers: Pick<ClientReaders, 'shared'>) {
  const { registry, ledger, escrow } = deps.contracts
  const readShared = (block: BlockTag) => readers.shared(() => readPool(deps, block))
  // The pool at the last blocks, by their hashes, is shared among all institutions. A failure is not kept.
  const pools = new LRUCache<BlockTag, InstitutionView['pool']>({
    ...{ max: 2, fetchMethod: readShared, ignoreFetchAbort: true },
  })
  const poolAt = (block: BlockTag) => (block === 'latest' ? readShared(block) : pools.forceFetch(block))
  return async (orgId: Hex, block: BlockTag): Promise<InstitutionView | null> => {
    const [admin, walletCount, rulesVersion, openOrders, pool] = await Promise.all([
      registry.adminOf(orgId, block),
      registry.walletCount(orgId, block),
      ledger.policyVersion(orgId, block),
      escrow.openOrdersOf(orgId, block),
      poolAt(block),
    ])
    if (admin === ZERO_ADDRESS) return null
    return { orgId, name: bytes32ToName(orgId), admin, walletCount, rulesVersion, openOrders, pool }
  }
}

/**
 * The pool's own holdings, without shares withdrawn to wallets. An equity that was delisted since the server's start is
 * listed while the pool holds some of it.
 */
async function readPool(deps: ViewDeps, block: BlockTag): Promise<InstitutionView['pool']> {
  const { escrow, pool } = deps.contracts
  const [usdc, openOrders, { listed, facts }] = await Promise.all([
    deps.lenses.poolUsdc(block),
    escrow.openOrders(block),
    readWithListed(deps, pool.address, block),
  ])
  const equities = [...facts]
    .map(([symbol, { balance }]) => ({ symbol, shares: balance }))
    .filter(({ symbol, shares }) => listed.includes(symbol) || shares > 0n)
  return { usdc, openOrders, equities }
}

/**
 * A wallet's flags at a block, for every listed equity, and for those delisted since the server's start, whose shares the
 * wallet may still hold. KYC is the wallet's own and the same in each.
 */
async function complianceView(deps: ViewDeps, wallet: Hex, block: BlockTag): Promise<ComplianceView> {
  const [kyc, { listed, facts }] = await Promise.all([
    deps.contracts.token.isKyc(wallet, block),
    readWithListed(deps, wallet, block),
  ])
  const equities = [...facts].map(([symbol, { frozen }]) => ({
    symbol,
    kyc,
    listed: listed.includes(symbol),
    frozen,
  }))
  return { address: wallet, equities }
}
