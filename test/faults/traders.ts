import { setTimeout as sleep } from 'node:timers/promises'
import { Wallet } from 'ethers'
import * as z from 'zod'
import {
  type Client,
  createClient,
  isSignedOrder,
  NotSubmittedError,
  type SealedOrder,
  ServerError,
  type ShareMoveTerms,
} from '../../src/client/index.js'
import { bytes32Schema, type Hex } from '../../src/protocol/hex.js'
import type { SandboxAccount } from '../../src/sandbox/accounts.js'
import { handled } from '../support/handled.js'
import { DEEPEST_REORG, type PlannedOrder } from './plan.js'
import type { World } from './world.js'

/** An order on its way. */
export interface PlacedOrder {
  readonly planned: PlannedOrder
  /** The planned one, or that of the shares that it moves. */
  readonly request: PlannedOrder['request']
  readonly sealed: SealedOrder
  readonly account: SandboxAccount
  /** Whether a server has answered 202 for this envelope. */
  accepted: boolean
  /** The answer to its cancel: a server has stored it, or the order had ended. */
  cancel?: 'stored' | 'too-late'
  /** How its escrow ended, once no reorganization can take it back. */
  end?: 'SETTLED' | 'REFUNDED'
}

/** An order whose opening its account has signed. */
export interface SignedOpening {
  readonly account: Hex
  /** Whether a server has answered 202 for it. */
  isTaken: boolean
}

/** The employees. Each insists until a server has accepted the order. */
export type Traders = ReturnType<typeof createTraders>

/** Counts the orders whose escrow was opened, those that a server accepted, and those that have ended. */
export function countOrders({ placed }: Pick<Traders, 'placed'>) {
  const all = [...placed.values()]
  return {
    placed: all.length,
    accepted: all.filter(({ accepted }) => accepted).length,
    settled: all.filter(({ end }) => end === 'SETTLED').length,
    refunded: all.filter(({ end }) => end === 'REFUNDED').length,
    /** Cancels that a server has stored. */
    cancelled: all.filter(({ cancel }) => cancel === 'stored').length,
    /** Settled deposits of shares. */
    sharesDeposited: all.filter(({ request, end }) => end === 'SETTLED' && isDepositOfShares(request)).length,
  }
}

/** Whether the order's escrow takes shares. */
export function isDepositOfShares(request: PlannedOrder['request']): request is ShareMoveTerms {
  return request.side === 'DEPOSIT' && request.shares !== undefined
}

/** Open orders of an employee, of the twenty that the contract allows. */
const MOST_OPEN = 8
const PAUSE_MS = 200
const CHECK_MS = 20
const LIFETIME_SECONDS = 6 * 3_600
const IMPATIENT = { attempts: 2, baseMs: 100, maxMs: 300 }
const ANSWER_TIMEOUT_MS = 5_000
/** The server answers as soon as it has stored what it sends. */
const TAKEN_MS = 2_000
const ACCEPTED = 202
const DEFECT = 500
const sponsoredSchema = z.looseObject({ orderId: bytes32Schema, opening: z.looseObject({}) })

export function createTraders({ sandbox, contracts, notes }: World) {
  const placed = new Map<Hex, PlacedOrder>()
  const signed = new Map<Hex, SignedOpening>()
  const over = new AbortController()
  const cancels: Promise<void>[] = []
  const faults: string[] = []
  let begun = 0
  const employees = sandbox.accounts.employees.map((account) => {
    const client = createClient({
      serverUrl: sandbox.info.url,
      wallet: new Wallet(account.privateKey, sandbox.provider),
      pins: {
        enclavePublicKey: sandbox.secrets.intentPublicKey,
        escrow: sandbox.info.contracts.orderEscrow,
      },
      timeoutMs: ANSWER_TIMEOUT_MS,
      timing: IMPATIENT,
      fetch: watchedFetch,
    })
    return { account, client, last: Promise.resolve() }
  })

  async function watchedFetch(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
    const response = await fetch(input, init)
    if (response.status === ACCEPTED) noteTaken(init?.body)
    if (response.status === DEFECT) faults.push(`${input} was answered with ${DEFECT}`)
    return response
  }

  /** A server has taken an opening with an order: it has to open the order by itself from now on. */
  function noteTaken(body: unknown): void {
    const posted = typeof body === 'string' ? sponsoredSchema.safeParse(JSON.parse(body)) : undefined
    const opening = posted?.success ? signed.get(posted.data.orderId) : undefined
    if (opening !== undefined) opening.isTaken = true
  }

  const openOf = (account: SandboxAccount) =>
    [...placed.values()].filter((one) => one.account === account && one.end === undefined)

  async function order({ account, client }: (typeof employees)[number], planned: PlannedOrder) {
    const mostOpen = planned.moves === undefined ? MOST_OPEN : 1
    while (openOf(account).length >= mostOpen && !over.signal.aborted) await sleep(PAUSE_MS)
    const request = (await insist(() => requestOf(client, planned))) ?? planned.request
    const one = await insist(async () => {
      const deadline = Math.floor(Date.now() / 1_000) + LIFETIME_SECONDS
      let sealedOrder: SealedOrder | undefined
      try {
        const { order: sealed } = await client.placeOrder(
          { ...request, deadline },
          {
            sponsored: planned.isSponsored,
            signal: over.signal,
            async beforeOpen(sealed) {
              await notes.nameAccount(sealed.orderId, account.address)
              sealedOrder = sealed
              if (planned.isSponsored)
                signed.set(sealed.orderId, { account: account.address, isTaken: false })
            },
          },
        )
        return { planned, request, sealed, account, accepted: true }
      } catch (error) {
        if (error instanceof NotSubmittedError) {
          return { planned, request, sealed: error.order, account, accepted: false }
        }
        if (!planned.isSponsored || sealedOrder === undefined || !(await comesToBeOpen(client, sealedOrder)))
          throw error
        return { planned, request, sealed: sealedOrder, account, accepted: false }
      }
    })
    if (one === undefined) return
    const { sealed } = one
    placed.set(sealed.orderId, one)
    if (!one.accepted) one.accepted = (await insist(() => client.submitOrder(sealed))) !== undefined
    // A repeated post may get any answer, and must not start another run.
    const again = Array.from({ length: planned.repeats }, () => client.submitOrder(sealed))
    await Promise.allSettled(again)
    const { cancelAfterMs } = planned
    if (cancelAfterMs !== undefined)
      cancels.push(handled(sleep(cancelAfterMs).then(() => cancel(client, one))))
  }

  /** A planned move of shares becomes one of those that the account holds; without any, the planned request stays. */
  async function requestOf(
    client: Client,
    { moves, request }: PlannedOrder,
  ): Promise<PlannedOrder['request']> {
    if (moves === undefined) return request
    if (moves === 'shares-in') {
      const [held] = await client.getShares()
      return held === undefined ? request : { side: 'DEPOSIT', symbol: held.symbol, shares: held.balance }
    }
    const opened = await client.getPortfolio()
    const [held] = opened === null ? [] : Object.entries(opened.portfolio.positions)
    return held === undefined ? request : { side: 'WITHDRAW', symbol: held[0], shares: held[1].qty }
  }

  /**
   * Waits until a signed order is open, and posts it again only until a server has taken it. False once its signature opens nothing any
   * more.
   */
  async function comesToBeOpen(client: Client, order: SealedOrder): Promise<boolean> {
    if (!isSignedOrder(order)) return false
    const state = await insist(async () => {
      const found = await client.getOpeningState(order)
      if (found === 'usable') {
        if (signed.get(order.orderId)?.isTaken !== true) await client.submitOrder(order)
        throw new Error('not open yet')
      }
      return found
    })
    return state === 'open'
  }

  async function cancel(client: Client, one: PlacedOrder): Promise<void> {
    const answer = await insist(async () => {
      try {
        await client.cancelOrder(one.sealed.orderId)
        return 'stored' as const
      } catch (error) {
        if (error instanceof ServerError && error.code === 'order-ended') return 'too-late' as const
        throw error
      }
    })
    if (answer !== undefined) one.cancel = answer
  }

  /** Repeats an action until it succeeds. Undefined once the traders have stopped. */
  async function insist<T>(action: () => Promise<T>): Promise<T | undefined> {
    while (!over.signal.aborted) {
      try {
        return await action()
      } catch {
        await sleep(PAUSE_MS)
      }
    }
    return undefined
  }

  async function follow(): Promise<void> {
    while (!over.signal.aborted) {
      const deep = (await sandbox.provider.getBlockNumber()) - DEEPEST_REORG
      for (const [orderId, one] of placed) {
        if (one.end !== undefined) continue
        const { state } = await contracts.escrow.orders(orderId, deep)
        if (state === 'SETTLED' || state === 'REFUNDED') one.end = state
      }
      await sleep(PAUSE_MS)
    }
  }
  const following = follow()

  return {
    clients: employees.map(({ client }) => client),
    /** Answers that no fault excuses. */
    faults: faults as readonly string[],
    placed: placed as ReadonlyMap<Hex, PlacedOrder>,
    /** Orders whose openings were signed for the platform, also those that came to nothing. */
    signed: signed as ReadonlyMap<Hex, SignedOpening>,
    /** Places this order, after the earlier ones of its employee. */
    begin(planned: PlannedOrder): void {
      begun++
      const employee = employees[planned.trader]
      if (employee !== undefined) employee.last = employee.last.then(() => order(employee, planned))
    },
    /** Counts orders that have not ended, placed or not. */
    open: () => begun - [...placed.values()].filter(({ end }) => end !== undefined).length,
    /** Whether a server has answered 202 for the opening of this order, or does so in a moment. */
    async isTaken(orderId: Hex): Promise<boolean> {
      const giveUpAt = performance.now() + TAKEN_MS
      while (signed.get(orderId)?.isTaken === false && performance.now() < giveUpAt) await sleep(CHECK_MS)
      return signed.get(orderId)?.isTaken === true
    },
    /** Stops ordering. */
    async stop(): Promise<void> {
      over.abort()
      await Promise.all([following, ...employees.map(({ last }) => last)])
      await Promise.all(cancels)
    },
  }
}
