import type { RpcProvider } from '../../chain/provider.js'
import type { Hex } from '../../protocol/hex.js'
import type { Service } from '../lifetime.js'
import type { Logger } from '../logger.js'
import { createPoller } from '../poller.js'
import type { SignedTransaction } from '../store/receipts.js'
import type { Broadcaster } from './broadcast.js'
import { currentFees, raisedFees } from './fees.js'
import {
  addTransaction,
  createInFlight,
  type InFlight,
  newestOf,
  type Outcome,
  type SaveTransaction,
} from './inFlight.js'
import { createNonces } from './nonces.js'
import { type RelayerSigner, readTransaction } from './signer.js'
import { createSlots } from './slots.js'
import { createWatcher } from './watcher.js'

export interface TransactorOptions {
  readonly provider: RpcProvider
  readonly broadcaster: Broadcaster
  readonly signer: RelayerSigner
  readonly chainId: number
  /** Blocks that must hold a transaction, its own included, before it counts. */
  readonly confirmations: number
  /** Transactions under way at once. */
  readonly maxInFlight: number
  /** A transaction that is in no block after this long is sent again, for more. */
  readonly resubmitAfterMs: number
  /** Pause between two looks at the chain while something is under way. */
  readonly pollIntervalMs: number
  /** Wei per gas that is never exceeded. */
  readonly maxFeePerGas: bigint
  readonly logger: Logger
}

/** A call that is worth its gas. */
export interface Call {
  readonly to: Hex
  readonly data: Hex
  readonly gasLimit: bigint
}

/** The one user of the relayer's account: takes calls into blocks, many at a time, and leaves no nonce open. */
export interface Transactor {
  /**
   * Signs the call under the next nonce, saves it, broadcasts it and follows it, sending it again for more when it
   * is not mined in time. Waits for its turn when too many are under way.
   *
   * @throws what `save` throws, and ChainUnavailableError: nothing was sent then, and no nonce used
   */
  send(call: Call, save: SaveTransaction): Promise<Outcome>
  /** Follows what an earlier process signed, oldest first: it may or may not have been broadcast, or mined. */
  resume(transactions: readonly SignedTransaction[], save: SaveTransaction): Promise<Outcome>
  /** Wei that all under way may cost at most. */
  committed(): bigint
  readonly service: Service
}

export function createTransactor(options: TransactorOptions): Transactor {
  const { provider, broadcaster, signer, chainId, maxFeePerGas, logger } = options
  const inFlight = new Set<InFlight>()
  const slots = createSlots(options.maxInFlight)
  const nonces = createNonces({ provider, address: signer.address, inFlight })
  const broadcasts = new Set<Promise<void>>()
  let stopped = false

  /** Nobody waits for it but the stop: what comes of it is read from the chain. */
  function broadcast(flight: InFlight): void {
    flight.lastSentAt = performance.now()
    const { raw, hash, nonce } = newestOf(flight)
    const sent = broadcaster.send({ raw, hash }).then(({ held }) => {
      broadcasts.delete(sent)
      if (held === 0) logger.warn('no node took a transaction', { txHash: hash, nonce })
    })
    broadcasts.add(sent)
  }

  async function open(call: Call, save: SaveTransaction): Promise<InFlight> {
    const fees = await currentFees(provider, maxFeePerGas)
    return nonces.use(async (nonce) => {
      const signed = { nonce, ...(await signer.sign({ chainId, nonce, ...call, ...fees })) }
      await save(signed)
      const flight = createInFlight([signed], save)
      inFlight.add(flight)
      return flight
    })
  }

  async function resubmit(flight: InFlight): Promise<void> {
    flight.lastSentAt = performance.now()
    const { raw, nonce } = newestOf(flight)
    const previous = readTransaction(raw)
    const raised = raisedFees(previous, await currentFees(provider, maxFeePerGas), maxFeePerGas)
    if (raised !== null) {
      const signed = { nonce, ...(await signer.sign({ chainId, nonce, ...previous, ...raised })) }
      await flight.save(signed)
      addTransaction(flight, signed)
    }
    logger.warn('transaction sent again', { txHash: newestOf(flight).hash, nonce })
    broadcast(flight)
  }

  const watcher = createWatcher({
    ...options,
    address: signer.address,
    inFlight,
    resubmit,
    finish(flight, outcome) {
      inFlight.delete(flight)
      flight.finish(outcome)
    },
    onDisplaced: nonces.distrust,
  })
  const poller = createPoller({
    name: 'relay-transactor',
    intervalMs: options.pollIntervalMs,
    tick: watcher.look,
    logger,
  })

  return {
    async send(call, save) {
      await slots.take()
      try {
        if (stopped) return { kind: 'stopped' }
        const flight = await open(call, save)
        // Saved, so the next start sends it; nobody watches it here any more.
        if (stopped) return { kind: 'stopped' }
        broadcast(flight)
        return await flight.outcome
      } finally {
        slots.release()
      }
    },
    async resume(transactions, save) {
      if (stopped) return { kind: 'stopped' }
      const flight = createInFlight(transactions, save)
      inFlight.add(flight)
      broadcast(flight)
      return flight.outcome
    },
    committed: () => [...inFlight].reduce((sum, { maxCost }) => sum + maxCost, 0n),
    service: {
      name: poller.name,
      start: poller.start,
      async stop() {
        stopped = true
        await poller.stop()
        for (const flight of inFlight) flight.finish({ kind: 'stopped' })
        inFlight.clear()
        await Promise.all(broadcasts)
      },
    },
  }
}
