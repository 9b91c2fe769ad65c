// Building, opening, posting and following an order: sections 7 to 9 of docs/protocol.md.
import { randomBytes } from 'node:crypto'
import { fromHex, type Hex, toHex, uint256be } from './bytes.js'
import type { Chain } from './chain.js'
import { signDigest } from './curve.js'
import { commitOf, type Envelope, envelopeOf, hashOfEnvelope, seal } from './envelope.js'
import { type Http, sleep } from './http.js'
import { hexOf, listOf, objectOf, textOf } from './json.js'
import { cancelDigest, type Intent, intentDigest, sealedCancelDigest } from './typedData.js'
import { sameBytes, type Venue } from './venue.js'

const POST_ATTEMPTS = 20
const POST_AGAIN_MS = 1_000
const POLL_MS = 2_000
/** For how long an order that has ended may wait for its notice. */
const NOTICE_WAIT_MS = 60_000

export interface OrderWish {
  readonly side: Intent['side']
  readonly symbol: string
  /** Base units: of USDC, or of shares in a withdrawal of an equity. */
  readonly amount: bigint
  /** A BUY out of the portfolio's cash rather than the wallet's USDC. */
  readonly fromCash?: boolean
}

/** Signed and sealed; kept until the server has it. */
export interface PreparedOrder {
  readonly venue: Venue
  readonly intent: Intent
  readonly envelope: Envelope
  /** Whether the wallet's USDC goes into the escrow. */
  readonly escrows: boolean
}

export interface EndedOrder {
  readonly state: 'SETTLED' | 'REFUNDED'
  readonly notice: Envelope | undefined
}

export const randomOrderId = (): Hex => toHex(randomBytes(32))

/** The plaintext: the intent with the wallet's signature, sealed to the enclave. */
export function sealOrder(venue: Venue, intent: Intent, walletKey: Uint8Array): Envelope {
  const sig = toHex(signDigest(walletKey, intentDigest(venue, intent)))
  return seal('order', { ...intent, sig }, venue.enclaveKey)
}

/** Escrows a BUY's USDC, or requests what escrows nothing; resolves once it is mined. */
export async function openEscrow(chain: Chain, order: PreparedOrder): Promise<void> {
  const { escrow, usdc } = order.venue
  const { orderId, account, maxSpend, expiry } = order.intent
  const [commit, amount, deadline] = [commitOf(order.envelope), BigInt(maxSpend), BigInt(expiry)]
  if (!order.escrows) return chain.send(escrow, 'openRequest', [orderId, commit, deadline])
  const allowance = await chain.readInteger(usdc, 'allowance', [account, escrow])
  if (allowance < amount) await chain.send(usdc, 'approve', [escrow, amount])
  return chain.send(escrow, 'openBuy', [orderId, commit, amount, deadline])
}

/**
 * Posts the envelope until it is the one that the server keeps.
 * @throws Error when it never is, ProblemError when the server refuses it
 */
export async function postOrder(http: Http, { intent, envelope }: PreparedOrder): Promise<void> {
  for (let attempt = 0; attempt < POST_ATTEMPTS; attempt += 1) {
    if (attempt > 0) await sleep(POST_AGAIN_MS)
    const answer = await http.post('/orders', { orderId: intent.orderId, ...envelope })
    if (sameBytes(hexOf(answer, 'commit'), commitOf(envelope))) return
  }
  throw new Error('the server keeps another envelope under this orderId')
}

/** Signs and seals a cancel, signs its envelope, and posts both. @throws ProblemError when the server refuses it */
export async function postCancel(
  http: Http,
  venue: Venue,
  { orderId, account }: Pick<Intent, 'orderId' | 'account'>,
  walletKey: Uint8Array,
): Promise<void> {
  const sig = toHex(signDigest(walletKey, cancelDigest(venue, orderId, account)))
  const place = Buffer.concat([uint256be(venue.chainId), fromHex(venue.escrow, 20), fromHex(orderId, 32)])
  const envelope = seal('cancel', { v: 1, orderId, account, sig }, venue.enclaveKey, undefined, place)
  const digest = sealedCancelDigest(venue, orderId, hashOfEnvelope(envelope))
  await http.post(`/orders/${orderId}/cancel`, {
    ...envelope,
    sig: toHex(signDigest(walletKey, digest)),
  })
}

/** Polls until the order has ended, and its notice, if one comes, is there. */
export async function followOrder(http: Http, orderId: Hex): Promise<EndedOrder> {
  let etag: string | undefined
  let endSeen: number | undefined
  let last: Status | undefined
  for (;;) {
    const answer = await http.get(`/orders/${orderId}`, etag)
    if (answer) {
      last = statusOf(answer.body)
      etag = answer.etag
    }
    if (last?.state === 'SETTLED' || last?.state === 'REFUNDED') {
      endSeen ??= Date.now()
      const waits = !last.notice && last.running && Date.now() < endSeen + NOTICE_WAIT_MS
      if (!waits) return { state: last.state, notice: last.notice }
    }
    await sleep(POLL_MS)
  }
}

interface Status {
  readonly state: string
  /** Whether a run of the enclave goes on. */
  readonly running: boolean
  readonly notice: Envelope | undefined
}

function statusOf(body: Parameters<typeof textOf>[0]): Status {
  return {
    state: textOf(body, 'state'),
    running: listOf(body, 'triggers').some((trigger) => objectOf(trigger).finishedAt === null),
    notice: body.notice === null ? undefined : envelopeOf(objectOf(body.notice)),
  }
}
