import { type Fees, priceLimit } from '../../chain/fees.js'
import type { Logger } from '../logger.js'
import type { SignedTransaction } from '../store/receipts.js'
import type { Broadcaster } from './broadcast.js'
import { type FeeMarket, raisedFees } from './fees.js'
import { addTransaction, createFlight, type Flight, isFiller, type Owner } from './flight.js'
import type { Call } from './preflight.js'
import type { RelayerSigner } from './signer.js'
import { readTransaction } from './transaction.js'

/** A call that was checked, with the gas that it gets. */
export interface CheckedCall extends Call {
  readonly gasLimit: bigint
}

export interface OutboxOptions {
  readonly broadcaster: Broadcaster
  readonly signer: RelayerSigner
  readonly fees: FeeMarket
  readonly chainId: number
  /** Wei per gas that is never exceeded. */
  readonly maxFeePerGas: bigint
  readonly logger: Logger
}

/** Signs, saves and sends, in this order. Knows nothing of what becomes of it. */
export interface Outbox {
  /** Signs and saves the call under this nonce. @throws what `save` throws, and ChainUnavailableError */
  write(call: CheckedCall, nonce: number, owner: Owner): Promise<Flight>
  /** Gives the newest transaction to the nodes. Nobody waits: what comes of it is read from the chain. */
  broadcast(flight: Flight): void
  /** Replaces it by one that offers more, if the ceiling leaves room, and sends it again in any case. */
  resubmit(flight: Flight): Promise<void>
  /** Replaces what no node takes by a filler, so that what comes after it can be mined. */
  giveUp(flight: Flight): Promise<void>
  /** A filler for a nonce that nothing was signed under. It is on no disk: a lost one leaves the hole as it was. */
  fill(nonce: number): Promise<Flight>
  /** Resolves when no broadcast is under way any more. */
  idle(): Promise<void>
}

/** https://eips.ethereum.org/EIPS/eip-2718: a plain transfer */
const TRANSFER_GAS = 21_000n
const nobody: Owner = {
  save: async () => undefined,
  counted: () => undefined,
  isNeeded: async () => true,
  dropped: () => undefined,
}

export function createOutbox(options: OutboxOptions): Outbox {
  const { broadcaster, signer, fees, chainId, maxFeePerGas, logger } = options
  const broadcasts = new Set<Promise<void>>()
  const filler: CheckedCall = { to: signer.address, data: '0x', gasLimit: TRANSFER_GAS }

  async function sign(call: CheckedCall, nonce: number, offered: Fees): Promise<SignedTransaction> {
    const { to, data, gasLimit } = call
    return { nonce, ...(await signer.sign({ chainId, nonce, to, data, gasLimit, fees: offered })) }
  }

  async function write(call: CheckedCall, nonce: number, owner: Owner): Promise<Flight> {
    const offered = await fees.current()
    const signed = await sign(call, nonce, offered)
    await owner.save(signed)
    return createFlight([signed], owner, call.gasLimit * priceLimit(offered))
  }

  function broadcast(flight: Flight): void {
    flight.sentAt = performance.now()
    const newest = flight.newest
    const sent = broadcaster.send(newest).then((reception) => {
      broadcasts.delete(sent)
      if (flight.newest !== newest) return
      const { hash, nonce } = newest
      const wasHeld = flight.reception === undefined || flight.reception.held > 0
      if (reception.held === 0 && wasHeld) logger.warn('no node took a transaction', { txHash: hash, nonce })
      if (reception.held > 0 && !wasHeld) flight.waitsSince = performance.now()
      flight.reception = reception
    })
    broadcasts.add(sent)
  }

  /** Where the ceiling leaves no room, another call offers the same: a node that holds nothing takes it. */
  async function replace(flight: Flight, call: CheckedCall): Promise<void> {
    const previous = readTransaction(flight.newest.raw)
    const raised = raisedFees(previous.fees, await fees.current(), maxFeePerGas)
    if (raised !== null || call.to !== previous.to) {
      const signed = await sign(call, flight.nonce, raised ?? previous.fees)
      await flight.owner.save(signed)
      addTransaction(flight, signed)
    }
    broadcast(flight)
  }

  return {
    write,
    broadcast,
    async resubmit(flight) {
      flight.waitsSince = performance.now()
      await replace(flight, readTransaction(flight.newest.raw))
      logger.warn('transaction sent again', { txHash: flight.newest.hash, nonce: flight.nonce })
    },
    async giveUp(flight) {
      flight.waitsSince = performance.now()
      if (isFiller(readTransaction(flight.newest.raw), signer.address)) return replace(flight, filler)
      logger.warn('nonce filled: no node takes its transaction', { nonce: flight.nonce })
      return replace(flight, filler)
    },
    async fill(nonce) {
      logger.warn('nonce filled: nothing is known of its transaction', { nonce })
      return write(filler, nonce, nobody)
    },
    async idle() {
      await Promise.all(broadcasts)
    },
  }
}
