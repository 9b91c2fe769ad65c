import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { listMembers, type MemberList } from '../../src/client/admin.js'
import { type AccountHistory, getHistory, listOrders, type OrderList } from '../../src/client/history.js'
import {
  type AccountMove,
  type Claim,
  type ComplianceView,
  cannotDerive,
  createPast,
  createTail,
  type Funds,
  type Hex,
  type InstitutionView,
  type KeptOrder,
  type OpenedPortfolio,
  type OrderStatus,
  type PastMoves,
  type Platform,
  type PublishedVersions,
  type Reader,
  type Standing,
  type WalletShares,
  type WalletView,
} from '../../src/client/index.js'
import type { Calm } from '../calm.js'
import { type Ordered, orderedOf, requestWords, withOpenOrders, withPlaced } from '../orders/orderMemory.js'
import { type KeyInUse, newestMade, openKeys } from '../orders/portfolioKeys.js'
import { EMPTY_TICKET, type TicketDraft } from '../orders/ticketOrder.js'
import { type Ask, createQuery, type Pace, type Query } from '../query.js'
import type { Settings } from '../settings.js'
import type { Session } from '../wallet/session.js'
import { shortHex } from '../words/format.js'
import { orderTone, stateWords } from '../words/timeline.js'
import type { DeviceStore } from './browser.js'
import { createKeptRequests } from './keptRequests.js'
import { createNames, type Names } from './names.js'
import { createOrders, type Orders } from './orders.js'
import { createPlacing, type Placing } from './placing.js'
import { createProgress, type Progress } from './progress.js'
import { createReceipts, type Receipts } from './receipts.js'
import { createRulebookWork, type RulebookWork, rulebookCallsOf } from './rulebookWork.js'
import type { Toast, Toasts } from './toasts.js'

/** Everything that the page knows of a connected wallet. It ends with the session: one wallet, one chain. */
export interface Account {
  readonly session: Session
  readonly view: Query<WalletView>
  readonly orgId: ReadonlySignal<Hex | null>
  readonly isAdmin: ReadonlySignal<boolean>
  readonly compliance: Query<ComplianceView>
  readonly funds: Query<Funds>
  /** Key and contracts with what the enclave has proved, judged as before each order. */
  readonly trust: Query<Platform>
  /** The shares that the wallet itself holds: ERC-20 tokens, which everyone can see. */
  readonly walletShares: Query<readonly WalletShares[]>
  readonly claims: Query<readonly Claim[]>
  readonly portfolio: Query<OpenedPortfolio | null>
  /** Purchases, sales and withdrawals of the account, once a key is in use. */
  readonly trades: Query<AccountHistory>
  readonly orders: Orders
  /** Receipts of the orders that this device has sealed. */
  readonly receipts: Receipts
  readonly placing: Placing
  /** Whether the platform opens orders, and pays their gas. */
  readonly canSponsor: Query<boolean>
  /** How far the order is that was placed last; null without one. */
  readonly progress: ReadonlySignal<Progress | null>
  /** The order ticket as it stands. It survives a change of screen. */
  readonly draft: Signal<TicketDraft>
  readonly rulebook: RulebookWork
  /** The names that the wallet, as an admin, gives to others. */
  readonly names: Names
  /** The newest key of the portfolio; null while none is in use. */
  readonly key: Signal<KeyInUse | null>
  /** Puts a key to use; the wallet is asked for the one that it derives, unless a file was chosen. */
  readonly unlock: () => Promise<void>
  /** Whether the wallet derives no key, and no file was chosen yet. */
  readonly isFileNeeded: ReadonlySignal<boolean>
  readonly institution: Query<InstitutionView>
  readonly members: Query<MemberList>
  /** When each version of the rulebook came into force; null but for its admin. */
  readonly versions: Query<PublishedVersions>
  /** The move of this wallet's portfolio to another wallet; null if there is none. */
  readonly move: Query<AccountMove | null>
  /** The moves of other portfolios to this wallet. */
  readonly movesHere: Query<PastMoves>
  /** The moves in the institution; null but for its admin. */
  readonly moves: Query<PastMoves>
  /** Null for a wallet without an institution, and for an admin, who writes the rulebook. */
  readonly standing: Query<Standing | null>
  /** Whether the wallet is the platform's owner. */
  readonly isOwner: Query<boolean>
}

interface AccountDeps {
  readonly session: Session
  readonly settings: Settings
  readonly reader: Reader
  readonly isSeen: ReadonlySignal<boolean>
  readonly calm: Calm
  readonly toasts: Pick<Toasts, 'show'>
  readonly device: DeviceStore
}

const [SOON_MS, LATER_MS] = [3_000, 15_000]
const [INSTITUTION_MS, CHAIN_MS, COMPLIANCE_MS, RARE_MS] = [5_000, 10_000, 30_000, 60_000]

const NO_REQUESTS: ReadonlyMap<Hex, Ordered> = new Map()

export function createAccount(deps: AccountDeps): Account {
  const { session, settings, reader, isSeen, calm, toasts, device } = deps
  const { client, provider, address } = session
  const ask = <T>(question: () => Ask<T> | null, pace: Pace<T>) => createQuery({ isSeen, question, pace })
  const poll = <T>(question: Ask<T>, pace: Pace<T>) => ask(() => question, pace)
  /** Asks the server, which a whole office may share. */
  const askServer = <T>(question: () => Ask<T> | null, pace: Pace<T>) =>
    createQuery({ isSeen, calm, question, pace })
  /** Reads the chain's past, which may have grown while no one watched it. */
  const read = <T extends { isComplete: boolean }>(question: () => Ask<T> | null, pace: Pace<T>) =>
    createQuery({ isSeen, question, pace, aged: (value: T) => ({ ...value, isComplete: false }) })

  const key = signal<KeyInUse | null>(null)
  const derivesNone = signal(false)
  const isFileNeeded = computed(() => derivesNone.value && key.value === null)
  async function unlock() {
    try {
      key.value = await openKeys(client)
    } catch (error) {
      derivesNone.value = cannotDerive(error)
      throw error
    }
  }
  const askView = (aborted: AbortSignal) => reader.getWallet(address, { signal: aborted })
  const view = askServer(() => askView, walletPace)
  const askCompliance = (aborted: AbortSignal) => reader.getCompliance(address, { signal: aborted })
  const askPlatform = (aborted: AbortSignal) => client.getPlatform({ signal: aborted })
  const orgId = computed(() => view.value?.orgId ?? null)
  const isAdmin = computed(() => view.value?.role === 'admin')
  const funds = poll(() => client.getFunds(), CHAIN_MS)
  const readPortfolio = async () => {
    const opened = await client.getPortfolio()
    if (opened !== null) memory.value = withOpenOrders(memory.peek(), opened.portfolio.openOrders)
    return opened
  }
  const portfolio = ask(() => (key.value === null ? null : () => readPortfolio()), CHAIN_MS)
  const { firstBlock: fromBlock } = settings.chain
  const kept = { fromBlock, store: device }
  const past = createPast(provider, { escrow: settings.pins.escrow, ...kept })
  const movesHere = past.moves({ to: address })
  const readOrders = createTail<OrderList>((options) => listOrders(client, { ...kept, ...options }))
  const history = read(() => readOrders, LATER_MS)
  /** A write and a corporate action both change the history. */
  const version = computed(() => {
    const opened = portfolio.value
    return opened && `${opened.version} ${opened.portfolio.actions ?? 0}`
  })
  const readTrades: Ask<AccountHistory> = (aborted) => {
    // A new version asks again.
    version.value
    return getHistory(client, { ...kept, signal: aborted })
  }
  const trades = ask(
    () => (key.value === null ? null : readTrades),
    (_history, error) => (error === null ? null : CHAIN_MS),
  )
  /** Symbols that may be in the wallet or in a claim, and are no longer listed; as text, which changes only when they do. */
  const unlisted = computed(() => {
    const held = Object.keys(portfolio.value?.portfolio.positions ?? {})
    const moved = (trades.value?.entries ?? []).filter((entry) => entry.kind === 'shares-withdrawn')
    return [...new Set([...held, ...moved.map(({ symbol }) => symbol)])].sort().join(' ')
  })
  const others = () => unlisted.value.split(' ').filter((symbol) => symbol !== '')
  const walletShares = poll(() => client.getShares({ others: others() }), RARE_MS)
  const requests = createKeptRequests({ client, store: device, chainId: session.chainId, account: address })
  const opened = ask(
    () => (key.value === null ? null : () => requests.open()),
    () => null,
  )
  const ordered = computed(() => opened.value ?? NO_REQUESTS)
  const resumed = resumeOrders()
  /** Takes up what an earlier visit left, or another tab. An order that fails now is left to its card. */
  async function resumeOrders(): Promise<void> {
    for (const { orderId } of await client.getKeptOrders()) {
      await client.resumeOrder(orderId).catch(() => undefined)
    }
  }
  const sealed = ask<readonly KeptOrder[]>(
    () => async () => {
      await resumed.catch(() => undefined)
      return client.getKeptOrders()
    },
    LATER_MS,
  )
  const orders = createOrders({
    ...{ client, isSeen, history, sealed, trades, kept: ordered, key, onMoved, onEnd },
    onChange: calm.stir,
  })
  const { memory } = orders
  function report(orderId: Hex, tone: Toast['tone'], happened: string) {
    const request = memory.peek().ordered.get(orderId)
    toasts.show({ tone, says: `${happened}: ${request ? requestWords(request) : shortHex(orderId)}` })
  }
  function onMoved() {
    funds.refresh()
    walletShares.refresh()
    portfolio.refresh()
  }
  async function onEnd(status: OrderStatus) {
    // The chain says that it was refunded; only the notice says whether it was refused, and why.
    const notice = key.peek() === null ? null : await client.openNotice(status).catch(() => null)
    report(status.orderId, orderTone(status, null, notice), stateWords(status, notice))
  }
  const place = { chainId: session.chainId, escrow: settings.pins.escrow, account: address }
  const receipts = createReceipts({ client, store: device, ...place })
  const placing = createPlacing({
    ...{ client: { ...client, placeOrder: receipts.placeOrder }, key, unlock },
    isKeyMissing: () => isKeyMissing(address, key.peek()),
    onOrder(orderId, request, isSent) {
      const ordered = orderedOf(request)
      memory.value = withPlaced(memory.peek(), orderId, ordered)
      void requests.keep(orderId, ordered)
      sealed.refresh()
      funds.refresh()
      walletShares.refresh()
      if (isSent) report(orderId, 'wait', 'Order sent')
    },
  })
  return {
    ...{ session, view, orgId, isAdmin, funds, walletShares, portfolio, trades, orders },
    ...{ key, unlock, isFileNeeded },
    compliance: askServer(() => askCompliance, COMPLIANCE_MS),
    trust: askServer(
      () => askPlatform,
      (_platform, error) => (error === null ? RARE_MS : LATER_MS),
    ),
    claims: poll(() => client.getClaims({ others: others() }), RARE_MS),
    ...{ placing, receipts },
    canSponsor: poll(
      () => client.canSponsor(),
      (_can, error) => (error === null ? null : CHAIN_MS),
    ),
    progress: createProgress(placing, orders),
    draft: signal(EMPTY_TICKET),
    rulebook: createRulebookWork(rulebookCallsOf(client, device), derivesNone),
    names: createNames({ client, store: device, chainId: session.chainId, account: address }),
    institution: askServer(() => {
      const id = orgId.value
      return id === null ? null : (aborted) => reader.getInstitution(id, { signal: aborted })
    }, INSTITUTION_MS),
    members: read(() => {
      const id = orgId.value
      if (id === null) return null
      return createTail<MemberList>((options) => listMembers(client, id, { ...kept, ...options }))
    }, INSTITUTION_MS),
    versions: read(() => {
      if (orgId.value === null || !isAdmin.value) return null
      return past.rulebooks({ orgId: orgId.value, admin: address })
    }, CHAIN_MS),
    move: poll(() => client.getMove(), LATER_MS),
    movesHere: read(() => movesHere, LATER_MS),
    moves: read(() => {
      if (orgId.value === null || !isAdmin.value) return null
      return past.moves({ orgId: orgId.value })
    }, CHAIN_MS),
    standing: ask(() => {
      if (orgId.value === null || isAdmin.value) return null
      return past.standing({ orgId: orgId.value, wallet: address })
    }, CHAIN_MS),
    isOwner: poll(() => past.isOwner(address), RARE_MS),
  }
}

/** Whether a key newer than the one in use exists. */
export function isKeyMissing(address: Hex, key: KeyInUse | null): boolean {
  return (key?.drawnAt ?? 0) < newestMade(address)
}

/** A waiting wallet's view changes soon; a trading wallet's view rarely changes. */
function walletPace(view: WalletView | null, error: unknown): number {
  return error === null && view?.screen === 'trade' ? LATER_MS : SOON_MS
}
