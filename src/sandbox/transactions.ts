import { type Interface, type Provider, Wallet } from 'ethers'
import { waitForReceipt } from '../chain/waitForReceipt.js'
import type { Hex } from '../protocol/hex.js'
import type { SandboxAccount } from './accounts.js'

/** A call to send. Its gas is not estimated, so it may depend on a call that is not mined yet. */
export interface Call {
  to: Hex
  abi: Interface
  method: string
  args: readonly unknown[]
}

const GAS_LIMIT = 500_000n

/** Sends the calls of one account with consecutive nonces and resolves when the last one is mined. */
export async function sendAll(
  provider: Provider,
  account: SandboxAccount,
  calls: readonly Call[],
): Promise<void> {
  const wallet = new Wallet(account.privateKey, provider)
  const first = await wallet.getNonce('pending')
  const sent = await Promise.all(
    calls.map(({ to, abi, method, args }, index) =>
      wallet.sendTransaction({
        to,
        data: abi.encodeFunctionData(method, args),
        nonce: first + index,
        gasLimit: GAS_LIMIT,
      }),
    ),
  )
  const receipts = await Promise.all(sent.map(({ hash }) => waitForReceipt(provider, hash)))
  const failed = receipts.findIndex((receipt) => receipt?.status !== 1)
  if (failed >= 0) throw new Error(`${calls[failed]?.method} of ${account.address} reverted`)
}
