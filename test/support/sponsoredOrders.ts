import { commitOf, type Envelope } from '../../src/protocol/envelope.js'
import type { Hex } from '../../src/protocol/hex.js'
import type { OrderOpening } from '../../src/protocol/opening.js'
import type { TestChain } from './chain.js'
import { usd } from './institution.js'
import { sealOrder } from './intakeServer.js'
import { keyOf, signOpening } from './openings.js'
import type { Role } from './roles.js'

const HOUR = 3_600

/** The body of `POST /orders` as it travels. */
export interface SponsoredBody extends Envelope {
  readonly orderId: Hex
  readonly opening: Record<string, string | number>
}

/**
 * An order whose opening that role's account has signed: a buy of 1,000.00 USDC, unless told otherwise.
 * @param changes `key` signs in the place of the account's; `envelope` in the place of a fresh one
 */
export async function sponsoredOrder(
  chain: TestChain,
  role: Role,
  orderId: Hex,
  changes: Partial<OrderOpening> & { key?: Hex; envelope?: Envelope } = {},
): Promise<SponsoredBody> {
  const { key = keyOf(chain, role), envelope = await sealOrder(`sponsored ${orderId}`), ...others } = changes
  const now = await chain.now()
  const order: OrderOpening = {
    account: chain.account(role),
    orderId,
    commit: commitOf(envelope),
    amount: usd(1_000),
    deadline: now + HOUR,
    validBefore: now + HOUR / 6,
    ...others,
  }
  const { account, amount, deadline, validBefore } = order
  const sig = signOpening(chain, order, { key })
  return { orderId, ...envelope, opening: { account, amount: `${amount}`, deadline, validBefore, sig } }
}
