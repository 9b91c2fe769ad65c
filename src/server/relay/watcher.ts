import type { Provider } from 'ethers'
import type { Hex } from '../../protocol/hex.js'
import { describeError, type Logger } from '../logger.js'
import { type InFlight, minedTransaction, newestOf, type Outcome } from './inFlight.js'

export interface WatcherOptions {
  readonly provider: Provider
  /** The relayer's address. */
  readonly address: Hex
  readonly inFlight: ReadonlySet<InFlight>
  readonly confirmations: number
  readonly resubmitAfterMs: number
  readonly resubmit: (flight: InFlight) => Promise<void>
  readonly finish: (flight: InFlight, outcome: Outcome) => void
  /** Something was displaced: its nonce is used by another, or the chain can't reach it. */
  readonly onDisplaced: (reason: 'taken' | 'unreachable') => void
  readonly logger: Logger
}

/** One node may know of a new count some blocks before another knows of the receipt that goes with it. */
const NODE_LAG_MS = 5_000

/** Reads from the chain what became of everything under way. */
export interface Watcher {
  /** One look: a request for head and nonce, and one more for the receipts of what seems mined. */
  look(): Promise<void>
}

export function createWatcher(options: WatcherOptions): Watcher {
  const { provider, address, inFlight, confirmations, resubmitAfterMs, finish, logger } = options
  let unreachableSince: number | undefined

  async function settle(flight: InFlight, head: number): Promise<void> {
    const receipts = await Promise.all(
      flight.transactions.map(({ hash }) => provider.getTransactionReceipt(hash)),
    )
    const receipt = receipts.find((found) => found !== null)
    if (receipt === undefined) {
      missed(flight)
      return
    }
    flight.missedSince = undefined
    if (head - receipt.blockNumber + 1 >= confirmations) {
      finish(flight, { kind: 'mined', transaction: minedTransaction(receipt) })
    }
  }

  function missed(flight: InFlight): void {
    flight.missedSince ??= performance.now()
    if (performance.now() - flight.missedSince >= NODE_LAG_MS) displace(flight, 'taken')
  }

  function displace(flight: InFlight, reason: 'taken' | 'unreachable'): void {
    logger.warn('nonce lost', { nonce: flight.nonce, txHash: newestOf(flight).hash, reason })
    options.onDisplaced(reason)
    finish(flight, { kind: 'displaced' })
  }

  /** A reset or reorganized chain may have forgotten nonces below all of ours, which nobody will fill then. */
  function noticeUnreachable(count: number): void {
    const lowest = Math.min(...[...inFlight].map(({ nonce }) => nonce))
    if (inFlight.size === 0 || lowest <= count) {
      unreachableSince = undefined
      return
    }
    unreachableSince ??= performance.now()
    if (performance.now() - unreachableSince < resubmitAfterMs) return
    unreachableSince = undefined
    for (const flight of [...inFlight]) displace(flight, 'unreachable')
  }

  async function resubmitOverdue(count: number): Promise<void> {
    const overdueSince = performance.now() - resubmitAfterMs
    for (const flight of [...inFlight]) {
      if (flight.nonce < count || flight.lastSentAt > overdueSince) continue
      try {
        await options.resubmit(flight)
      } catch (error) {
        // Held back until the next look; it holds up no other.
        logger.warn('transaction not sent again', { nonce: flight.nonce, ...describeError(error) })
      }
    }
  }

  return {
    async look() {
      if (inFlight.size === 0) return
      const [head, count] = await Promise.all([
        provider.getBlockNumber(),
        provider.getTransactionCount(address, 'latest'),
      ])
      await Promise.all(
        [...inFlight].filter(({ nonce }) => nonce < count).map((flight) => settle(flight, head)),
      )
      noticeUnreachable(count)
      await resubmitOverdue(count)
    },
  }
}
