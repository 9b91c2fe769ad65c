import type { RpcProvider } from '../../chain/provider.js'
import type { RpcTransport } from '../../chain/rpcTransport.js'
import type { Logger } from '../../service/logger.js'
import { createSlots } from '../async/slots.js'
import type { Service } from '../lifetime.js'
import { createPoller } from '../poller.js'
import type { KeptTransaction } from '../store/receipts.js'
import { createAccountView } from './account.js'
import type { Broadcaster } from './broadcast.js'
import type { FeeMarket } from './fees.js'
import { createFlight, type Flight, type Outcome, type Owner } from './flight.js'
import { createFlightEnds } from './flightEnds.js'
import { type Commitments, createFlights, type Flights } from './flights.js'
import { createForeignUse, type ForeignUse } from './foreignUse.js'
import { createGaps } from './gaps.js'
import { createGasCount, type GasCount } from './gasCount.js'
import { createLostTransactions, type LostTransactions } from './lostTransactions.js'
import { createFindMined, type FindMined } from './mined.js'
import { createNonces } from './nonces.js'
import { createFindNonceUse } from './nonceUse.js'
import { type CheckedCall, createOutbox, type Outbox } from './outbox.js'
import { createResending } from './resending.js'
import { createSendAhead, type SendAhead } from './sendAhead.js'
import { createSettledTransactions } from './settled.js'
import type { RelayerSigner } from './signer.js'
import { createWatcher } from './watcher.js'

export interface TransactorOptions {
  readonly provider: RpcProvider
  /** Gathers what is asked in one turn. */
  readonly transport: Pick<RpcTransport, 'send'>
  readonly broadcaster: Broadcaster
  readonly signer: RelayerSigner
  readonly fees: FeeMarket
  readonly chainId: number
  /** Blocks that must hold a transaction, its own included, before it counts. */
  readonly confirmations: number
  /** Transactions at once that are in no block. */
  readonly maxInFlight: number
  /** Transactions that are sent while a lower nonce is in no block; undefined: as many as the nodes take. */
  readonly maxSentAhead?: number | undefined
  /** A transaction that is in no block after this long is sent again, for more. */
  readonly resubmitAfterMs: number
  /** Pause between two looks at the chain while something is under way. */
  readonly pollIntervalMs: number
  /** Wei per gas that is never exceeded. */
  readonly maxFeePerGas: bigint
  /** Durable when it resolves. A filler that is not saved is not sent. */
  readonly saveFiller: Owner['save']
  /** Given the gas of each filler that takes the place of nothing. */
  readonly onFillerSent: (gas: bigint) => void
  /** Called for each transaction of the account that was not signed here. */
  readonly onForeign: () => void
  readonly logger: Logger
}

/** The one user of the relayer's account: takes calls into blocks, many at a time, and leaves no nonce open. */
export interface Transactor {
  /**
   * Signs the call under the next nonce, saves it, broadcasts it and follows it, sending it again for more when it
   * is not mined in time. Waits for its turn when too many are under way.
   *
   * @throws what `save` throws, and ChainUnavailableError: nothing was sent then, and no nonce used
   */
  send(call: CheckedCall, owner: Owner): Promise<Outcome>
  /**
   * Follows what an earlier process signed, oldest first: it may or may not have been broadcast, or mined. It is
   * sent again only once a look at the chain shows that it is not mined.
   */
  resume(transactions: readonly KeptTransaction[], owner: Owner): Promise<Outcome>
  /** Whether a call would have to wait for its turn now. */
  isFull(): boolean
  committed(): Commitments
  /** Transactions under way. */
  inFlight(): number
  /** Whether a transaction of the account was found lately that was not signed here. */
  isKeyShared(): boolean
  readonly service: Service
}

export function createTransactor(options: TransactorOptions): Transactor {
  const findMined = createFindMined(options.transport)
  const gasCount = createGasCount()
  const lost = createLostTransactions({ findMined, gasCount })
  const flights = createFlights(lost.add)
  const slots = createSlots(options.maxInFlight)
  const { provider, signer, pollIntervalMs: intervalMs, logger } = options
  const foreignUse = createForeignUse({
    findNonceUse: createFindNonceUse({ provider, address: signer.address }),
    onTaken: lost.taken,
    onForeign: options.onForeign,
    logger,
  })
  const outbox = createOutbox({ ...options, onSigned: foreignUse.own })
  const stopping = new AbortController()
  const sendAhead = createSendAhead({ flights, outbox, limit: options.maxSentAhead })
  const { nonces, look } = createOversight(
    { ...options, findMined, gasCount, lost, foreignUse, flights, outbox, sendAhead },
    stopping.signal,
  )
  const poller = createPoller({ name: 'relay-transactor', intervalMs, tick: look, logger })

  async function open(call: CheckedCall, owner: Owner): Promise<Flight | undefined> {
    const nonce = await nonces.take()
    if (nonce === undefined) return undefined
    try {
      const flight = await outbox.write(call, nonce, owner)
      // Without a pause between the two: its cost is counted in one place all along.
      flights.add(flight)
      owner.counted()
      return flight
    } catch (error) {
      nonces.release(nonce)
      throw error
    }
  }

  return {
    async send(call, owner) {
      await slots.take()
      try {
        if (stopping.signal.aborted) return { kind: 'stopped' }
        const flight = await open(call, owner)
        // Saved, so the next start sends it; nobody watches it here any more.
        if (flight === undefined || stopping.signal.aborted) return { kind: 'stopped' }
        sendAhead.offer(flight)
        await flight.landed
        return flight.outcome
      } finally {
        // What is in a block takes up no room in the nodes' pools.
        slots.leave()
      }
    },
    async resume(transactions, owner) {
      if (stopping.signal.aborted) return { kind: 'stopped' }
      for (const { hash } of transactions) foreignUse.own(hash)
      const flight = createFlight(transactions, owner)
      slots.occupy()
      void flight.landed.then(slots.leave)
      nonces.hold(flight.nonce)
      flights.add(flight)
      return flight.outcome
    },
    isFull: slots.isFull,
    committed: flights.committed,
    inFlight: flights.count,
    isKeyShared: foreignUse.isRecent,
    service: {
      name: poller.name,
      start: poller.start,
      async stop() {
        stopping.abort()
        await poller.stop()
        for (const flight of flights.all()) flights.finish(flight, { kind: 'stopped' })
        await outbox.idle()
      },
    },
  }
}

/** What watches over everything under way. */
function createOversight(
  parts: TransactorOptions & {
    readonly findMined: FindMined
    readonly gasCount: GasCount
    readonly lost: LostTransactions
    readonly foreignUse: ForeignUse
    readonly flights: Flights
    readonly outbox: Outbox
    readonly sendAhead: SendAhead
  },
  stopping: AbortSignal,
) {
  const { provider, signer, findMined } = parts
  const account = createAccountView({ provider, address: signer.address })
  const nonces = createNonces(account, stopping, parts.foreignUse.suspect)
  const settled = createSettledTransactions(findMined)
  const shared = { ...parts, address: signer.address, account, nonces, settled }
  const watcher = createWatcher({
    ...shared,
    ends: createFlightEnds(shared),
    resending: createResending(shared),
    gaps: createGaps(shared),
  })
  return { nonces, look: watcher.look }
}
