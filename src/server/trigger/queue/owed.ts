import type { Hex } from '../../../protocol/hex.js'
import { describeError, type Logger } from '../../../service/logger.js'
import { StorageError } from '../../store/storageError.js'
import type { OpenedOrder, TrackedOrder } from './trackedOrder.js'

/** What the chain has brought for orders whose records the disk fails to read or to write: it is tried again. */
export interface Owed {
  /**
   * Does what the latest news of an order asks for, now or at a later `retry`. Until then its account is held, as its
   * orders run in their order, unless it is settled: then it runs no more. Rejects only with what is no StorageError.
   */
  attempt(news: News, action: () => Promise<void>): Promise<void>
  retry(): Promise<void>
  /** The news of an order for which something is owed. */
  find(orderId: Hex): News | undefined
}

/** An order, and what has become of its escrow. */
export interface News {
  readonly order: OpenedOrder
  readonly state: TrackedOrder['state']
}

interface Debt {
  readonly news: News
  readonly action: () => Promise<void>
  /** The account that is held for it, as it was then: a reorganisation of the chain may bring another. */
  readonly held: Hex | undefined
}

export function createOwed(options: {
  /** Nothing of the account runs until it is let go. */
  readonly hold: (account: Hex) => void
  readonly letGo: (account: Hex) => void
  readonly logger: Logger
}): Owed {
  const { hold, letGo, logger } = options
  const debts = new Map<Hex, Debt>()

  /** @returns the account that is held from now on */
  function holdFor({ order, state }: News, held: Hex | undefined): Hex | undefined {
    if (state === 'SETTLED') {
      if (held !== undefined) letGo(held)
      return undefined
    }
    if (held === undefined) hold(order.account)
    return held ?? order.account
  }

  function owe(news: News, action: Debt['action'], error: StorageError): void {
    const { orderId } = news.order
    const before = debts.get(orderId)
    debts.set(orderId, { news, action, held: holdFor(news, before?.held) })
    if (before !== undefined) return
    logger.error('order put off: its record fails', { recordId: orderId, ...describeError(error) })
  }

  function settle(orderId: Hex): void {
    const debt = debts.get(orderId)
    if (debt === undefined) return
    debts.delete(orderId)
    if (debt.held !== undefined) letGo(debt.held)
    logger.info('order taken up again', { recordId: orderId })
  }

  async function attempt(news: News, action: Debt['action']): Promise<void> {
    try {
      await action()
      settle(news.order.orderId)
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
      owe(news, action, error)
    }
  }

  return {
    attempt,
    find: (orderId) => debts.get(orderId)?.news,
    async retry() {
      for (const { news, action } of [...debts.values()]) await attempt(news, action)
    },
  }
}
