import type { TransactionReceipt } from 'ethers'
import { createConfidentialLedger, type EscrowedOrder } from '../../src/chain/contracts.js'
import { ZERO_ADDRESS } from '../../src/protocol/address.js'
import type { Authorization } from '../../src/protocol/authorization.js'
import { type Hex, ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { accountIdOf } from '../../src/protocol/identifiers.js'
import { batchMint, type Message, orderOf, refund, settlement, signedCall } from './authorizations.js'
import type { TestChain } from './chain.js'
import { AAPL, openRequest } from './institution.js'
import type { Role } from './roles.js'

/** The version that a portfolio's next write carries, and the running hash of the writes before it. */
export async function nextWrite(
  { provider, addresses }: TestChain,
  account: Hex,
): Promise<{ version: bigint; previous: Hex }> {
  const ledger = createConfidentialLedger(provider, addresses.confidentialLedger)
  const accountId = accountIdOf(account)
  const [version, previous] = await Promise.all([
    ledger.portfolioVersion(accountId),
    ledger.portfolioHash(accountId),
  ])
  return { version: version + 1n, previous }
}

/** The settlement of an order as it is on the chain now, writing its account's portfolio once more. */
export async function settlementNow(
  chain: TestChain,
  orderId: Hex,
  changes: Partial<Message<'OrderSettlement'>> = {},
): Promise<Authorization> {
  const order = await orderOf(chain, orderId)
  return settlement(order, { ...(await nextWrite(chain, order.account)), ...changes })
}

/** The refund of an order as it is on the chain now, writing its account's portfolio once more. */
export async function refundNow(chain: TestChain, orderId: Hex): Promise<Authorization> {
  const order = await orderOf(chain, orderId)
  return refund(order, await nextWrite(chain, order.account))
}

/** Settles an order as the enclave does, past the server. */
export async function settleOrder(
  chain: TestChain,
  orderId: Hex,
  changes: Partial<Message<'OrderSettlement'>> = {},
): Promise<TransactionReceipt> {
  return chain.send('relayer', ...signedCall(chain, await settlementNow(chain, orderId, changes)))
}

/** Refunds an order as the enclave does, past the server. */
export async function refundOrder(chain: TestChain, orderId: Hex): Promise<TransactionReceipt> {
  return chain.send('relayer', ...signedCall(chain, await refundNow(chain, orderId)))
}

/** Mints AAPL and pays it out to a wallet with KYC, past broker and enclave. */
export async function giveShares(chain: TestChain, to: Role, amount: bigint): Promise<void> {
  await chain.send('relayer', ...signedCall(chain, batchMint(AAPL, amount)))
  await settleOrder(chain, await openRequest(chain, to, `${to} withdraws`), {
    payoutAsset: AAPL,
    payout: amount,
  })
}

/** An order as the escrow has it that was never opened. */
export const UNOPENED: EscrowedOrder = {
  account: ZERO_ADDRESS,
  amount: 0n,
  deadline: 0,
  commit: ZERO_BYTES32,
  orgId: ZERO_BYTES32,
  state: 'NONE',
  symbol: ZERO_BYTES32,
  shares: 0n,
}
