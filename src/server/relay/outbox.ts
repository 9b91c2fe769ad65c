import { type Fees, priceLimit } from '../../chain/fees.js'
import type { Hex } from '../../protocol/hex.js'
import type { Logger } from '../../service/logger.js'
import type { SignedTransaction } from '../store/receipts.js'
import type { Broadcaster } from './broadcast.js'
import { type FeeMarket, isOutbid, raisedFees } from './fees.js'
import { addTransaction, createFlight, type Flight, isFiller, isHeld, type Owner } from './flight.js'
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
  /** Given each transaction before it is sent. */
  readonly onSigned: (hash: Hex) => void
  /** Durable when it resolves. A filler that is not saved is not sent. */
  readonly saveFiller: Owner['save']
  /** Given the gas of each filler that takes the place of nothing. */
  readonly onFillerSent: (gas: bigint) => void
  readonly logger: Logger
}

/** Signs, saves and sends, in this order. Knows nothing of what becomes of it. */
export interface Outbox {
  /** Signs and saves the call under this nonce. @throws what `save` throws, and ChainUnavailableError */
  write(call: CheckedCall, nonce: number, owner: Owner): Promise<Flight>
  /** Gives the newest transaction to the nodes. Resolves when they have answered; never rejects. */
  broadcast(flight: Flight): Promise<void>
  /** Replaces it by one that offers more, if the ceiling leaves room, and sends it again in any case. */
  resubmit(flight: Flight): Promise<void>
  /** Whether a transaction that is signed now offers more. @throws ChainUnavailableError */
  isOutbid(flight: Flight): Promise<boolean>
  /** Replaces what no node takes by a filler, so that what comes after it can be mined. */
  giveUp(flight: Flight): Promise<void>
  /**
   * Signs and saves a filler for a nonce that nothing was signed under. No start takes it up: a lost one leaves the hole as
   * it was. @throws what `saveFiller` throws, and ChainUnavailableError
   */
  fill(nonce: number): Promise<Flight>
  /** Resolves when no broadcast is under way any more. */
  idle(): Promise<void>
}

/** https://eips.ethereum.org/EIPS/eip-2718: a plain transfer */
const TRANSFER_GAS = 21_000n
/** The gas of a filler is known when it is sent. */
const ofFiller: Omit<Owner, 'save'> = {
  counted: () => undefined,
  isNeeded: async () => true,
  used: () => undefined,
  lost: () => () => undefined,
  dropped: () => undefined,
}

export function createOutbox(options: OutboxOptions): Outbox {
  const { broadcaster, signer, fees, chainId, maxFeePerGas, onSigned, saveFiller, onFillerSent, logger } =
    options
  const broadcasts = new Set<Promise<void>>()
  const filler: CheckedCall = { to: signer.address, data: '0x', gasLimit: TRANSFER_GAS }

  async function sign(call: CheckedCall, nonce: number, offered: Fees): Promise<SignedTransaction> {
    const { to, data, gasLimit } = call
    const signed = await signer.sign({ chainId, nonce, to, data, gasLimit, fees: offered })
    onSigned(signed.hash)
    return { nonce, ...signed }
  }

  async function write(call: CheckedCall, nonce: number, owner: Owner): Promise<Flight> {
    const offered = await fees.current()
    const signed = await sign(call, nonce, offered)
    await owner.save(signed)
    return createFlight([signed], owner, call.gasLimit * priceLimit(offered))
  }

  async function broadcast(flight: Flight): Promise<void> {
    const sentAt = performance.now()
    flight.sentAt = sentAt
    const newest = flight.newest
    const sent = broadcaster.send(newest).then((reception) => {
      broadcasts.delete(sent)
      // It was sent once more since: that answer counts.
      if (flight.newest !== newest || flight.sentAt !== sentAt) return
      const { hash, nonce } = newest
      const wasHeld = flight.reception === undefined || isHeld(flight)
      flight.reception = reception
      if (isHeld(flight) && !wasHeld) flight.waitsSince = performance.now()
      if (!isHeld(flight) && wasHeld && flight.wasNext) {
        logger.warn('no node took a transaction', { txHash: hash, nonce })
      }
    })
    broadcasts.add(sent)
    await sent
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
    void broadcast(flight)
  }

  return {
    write,
    broadcast,
    async resubmit(flight) {
      flight.waitsSince = performance.now()
      await replace(flight, readTransaction(flight.newest.raw))
      logger.warn('transaction sent again', { txHash: flight.newest.hash, nonce: flight.nonce })
    },
    async isOutbid(flight) {
      return isOutbid(readTransaction(flight.newest.raw).fees, await fees.current())
    },
    async giveUp(flight) {
      flight.waitsSince = performance.now()
      if (isFiller(readTransaction(flight.newest.raw), signer.address)) return replace(flight, filler)
      logger.warn('nonce filled: no node takes its transaction', { nonce: flight.nonce })
      return replace(flight, filler)
    },
    async fill(nonce) {
      logger.warn('nonce filled: nothing is known of its transaction', { nonce })
      const flight = await write(filler, nonce, { ...ofFiller, save: saveFiller })
      onFillerSent(filler.gasLimit)
      return flight
    },
    async idle() {
      await Promise.all(broadcasts)
    },
  }
}
