import type { Sandbox } from '../../src/sandbox/sandbox.js'
import {
  createWallets,
  expiryOn,
  MOST_OPEN,
  openAll,
  sealFor,
  type UnpostedOrder,
} from '../../test/support/crowd.js'

export type { UnpostedOrder }

/**
 * Opens that many escrows on the chain, each with the commit of an envelope that is really sealed to the enclave: sales
 * by wallets that have passed KYC and hold nothing, so that an enclave run refuses them and refunds.
 */
export async function openOrders(sandbox: Sandbox, count: number): Promise<UnpostedOrder[]> {
  const accounts = await createWallets(sandbox, Math.ceil(count / MOST_OPEN))
  const expiry = await expiryOn(sandbox.provider)
  const opened: UnpostedOrder[] = []
  for (const account of accounts) {
    const sealed = await Promise.all(
      Array.from({ length: MOST_OPEN }, (_, index) =>
        sealFor(sandbox, account, { side: 'SELL', expiry, nonce: Date.now() + index }),
      ),
    )
    opened.push(...sealed)
  }
  await openAll(sandbox, opened)
  return opened.slice(0, count)
}
