import * as z from 'zod'
import type { EscrowedOrder } from '../../chain/contracts.js'
import { bytes32Schema, type Hex, ZERO_BYTES32 } from '../../protocol/hex.js'
import { isFinal } from '../../protocol/relayReceipt.js'
import type { Logger } from '../../service/logger.js'
import { noteUse } from '../limitUse.js'
import { createDocuments } from '../store/documents.js'
import type { Engine } from '../store/engine.js'
import type { ReceiptStore } from '../store/receipts.js'
import { RelayRefusal } from './authorization.js'

/** The openings that the platform pays for at once, by account: few until its orders settle. */
export type OpeningQuota = ReturnType<typeof createOpeningQuota>

/** An order's events on the chain; times in Unix seconds. */
interface History {
  readonly opened: { readonly time: number } | null
  readonly ended: {
    readonly kind: 'settled' | 'refunded' | 'reclaimed'
    readonly time: number
    /** Digest of the authorization that ended it, where it is known. */
    readonly digest: Hex | null
  } | null
}

/** A new account's places. They fit the orders that an employee places before the first has settled. */
const FIRST_LIMIT = 10
/** The most orders that the escrow lets an account have open. */
const HIGHEST_LIMIT = 20
const LOWEST_LIMIT = 1
const DAY_MS = 86_400_000
/** A place without a receipt was reserved by a server that died, or whose opening another one preceded. */
const UNSENT_MS = 60_000
/** An order with less time from its opening to its deadline, in seconds, may find none for an answer. */
const TIME_FOR_ANSWER_S = 3_600

const placeSchema = z.strictObject({
  orderId: bytes32Schema,
  digest: bytes32Schema,
  /** Milliseconds since 1970. */
  at: z.int(),
  /** Whether the order was refused, or the opening reverted at the platform's cost. */
  isRefused: z.boolean(),
})
type Place = z.output<typeof placeSchema>

const placesSchema = z.strictObject({ limit: z.int().min(LOWEST_LIMIT), places: z.array(placeSchema) })
type Places = z.output<typeof placesSchema>

/**
 * An order that settles gives its place back, with one more. One that was refused keeps its place for a day after its opening, and
 * then uses it up, and so does one that its account cancelled: both cost the platform as much. One that was refunded for another
 * reason gives its place back: the enclave had accepted it, or the platform had no answer in time. Portfolios are ciphertext, so the
 * server cannot know beforehand whether an order will be refused. The chain is asked only when an account has no free place.
 */
export function createOpeningQuota(options: {
  readonly engine: Engine
  /** The wallet's institution, and whether the platform admits it. */
  readonly membershipOf: (wallet: Hex) => Promise<{ readonly orgId: Hex; readonly admitted: boolean }>
  readonly receipts: Pick<ReceiptStore, 'get'>
  readonly escrowed: (orderId: Hex) => Promise<EscrowedOrder>
  readonly historyOf: (orderId: Hex) => Promise<History>
  /** Whether the order's account has asked for it to be cancelled. */
  readonly isCancelled: (orderId: Hex) => Promise<boolean>
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly logger: Logger
}) {
  const { engine, membershipOf, receipts, escrowed, historyOf, isCancelled, now, logger } = options
  const documents = createDocuments({ engine, logger, table: 'state', schema: placesSchema })

  async function outcomeOf({ orderId, digest, at, isRefused }: Place) {
    if (isRefused) return 'refused'
    const receipt = (await receipts.get(digest))?.receipt
    // A time in the future is from before the clock was set back.
    if (receipt === undefined) return Math.abs(now() - at) > UNSENT_MS ? 'void' : 'pending'
    if (!isFinal(receipt)) return 'pending'
    // The platform paid for nothing, or another wallet has used the id.
    if (receipt.status === 'failed')
      return receipt.txHash === null || receipt.error?.name === 'OrderIdTaken' ? 'void' : 'refused'
    const { state, deadline } = await escrowed(orderId)
    if (state === 'SETTLED') return 'settled'
    return state === 'REFUNDED' ? refundOf(orderId, deadline) : 'pending'
  }

  /** The chain does not say why an order was refunded, but what it was then, and when. */
  async function refundOf(orderId: Hex, deadline: number): Promise<'refused' | 'void' | 'pending'> {
    const { opened, ended } = await historyOf(orderId)
    // A node behind the one that knew the refund.
    if (opened === null || ended === null) return 'pending'
    if (ended.kind === 'reclaimed') return 'void'
    const hadTime = deadline - opened.time >= TIME_FOR_ANSWER_S
    if (hadTime && ended.time >= deadline) return 'void'
    const refund = ended.digest === null ? undefined : await receipts.get(ended.digest)
    // A refund that finishes an order is of one that was written ahead, so the enclave had admitted it.
    const wasWrittenAhead = refund?.purpose.kind === 'finish'
    return wasWrittenAhead && !(await isCancelled(orderId)) ? 'void' : 'refused'
  }

  async function judge({ limit, places }: Places): Promise<Places> {
    const judged = await Promise.all(
      places.map(async (place) => {
        const outcome = await outcomeOf(place)
        const isExpired = outcome === 'refused' && Math.abs(now() - place.at) > DAY_MS
        return { place, outcome: isExpired ? 'expired' : outcome }
      }),
    )
    const count = (of: string) => judged.filter(({ outcome }) => outcome === of).length
    const earned = limit + count('settled') - count('expired')
    return {
      limit: Math.min(Math.max(earned, LOWEST_LIMIT), HIGHEST_LIMIT),
      places: judged.flatMap(({ place, outcome }) => {
        if (outcome === 'pending') return [place]
        return outcome === 'refused' ? [{ ...place, isRefused: true }] : []
      }),
    }
  }

  function exhausted({ places }: Places): RelayRefusal {
    const isAnyPending = places.some(({ isRefused }) => !isRefused)
    const last = Math.max(...places.map(({ at }) => at))
    const retryAfterMs = isAnyPending ? UNSENT_MS : Math.max(last + DAY_MS - now(), UNSENT_MS)
    return new RelayRefusal({ code: 'relay-quota-exhausted', quota: 'opening', retryAfterMs })
  }

  return {
    /**
     * Asked first: one read for each account and block.
     * @throws RelayRefusal `opening-not-sponsored`; ChainUnavailableError, ChainAnswerError
     */
    async assertMember(account: Hex): Promise<void> {
      const { orgId, admitted } = await membershipOf(account)
      if (orgId === ZERO_BYTES32 || !admitted) throw new RelayRefusal({ code: 'opening-not-sponsored' })
    },
    /**
     * Reserves a place for the opening, unless it has one. Durable when it resolves.
     * @throws RelayRefusal `relay-quota-exhausted`; StorageError, ChainUnavailableError, ChainAnswerError
     */
    async reserve(opening: Record<'orderId' | 'account' | 'digest', Hex>): Promise<void> {
      const { orderId, account, digest } = opening
      const earlier = (await receipts.get(digest))?.receipt
      if (earlier !== undefined && earlier.status !== 'failed') return
      let refusal: RelayRefusal | undefined
      await documents.change(`openings-of:${account}`, async (current) => {
        refusal = undefined
        const known = current?.value ?? { limit: FIRST_LIMIT, places: [] }
        const hasPlace = known.places.some((place) => place.digest === digest && !place.isRefused)
        if (hasPlace && earlier === undefined) return undefined
        const isFull = known.places.length >= known.limit
        const value = isFull || hasPlace ? await judge(known) : known
        if (value.places.length >= value.limit) {
          refusal = exhausted(value)
          const isSame = JSON.stringify(value) === JSON.stringify(known)
          return isSame ? undefined : { value, isOpen: false }
        }
        noteUse('openings', (value.places.length + 1) / value.limit)
        const place = { orderId, digest, at: now(), isRefused: false }
        return { value: { ...value, places: [...value.places, place] }, isOpen: false }
      })
      if (refusal !== undefined) throw refusal
    },
  }
}
