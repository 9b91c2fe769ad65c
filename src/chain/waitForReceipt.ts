import type { Provider, TransactionReceipt } from 'ethers'

/** Pause between two polls. A local chain mines immediately, another one within seconds. */
const FIRST_POLL_MS = 5
const MAX_POLL_MS = 1_000

/**
 * Resolves with a transaction's receipt once it is mined, whether it succeeded (`status` 1) or reverted (0). Resolves with null
 * when it is not mined after `timeoutMs`.
 *
 * It polls, because ethers' own `wait` asks once and then waits for the next block: on a chain that mines on demand, a
 * block between the two would be the last one.
 */
export async function waitForReceipt(
  provider: Provider,
  hash: string,
  timeoutMs = 600_000,
): Promise<TransactionReceipt | null> {
  const giveUpAt = performance.now() + timeoutMs
  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(pollMs * 2, MAX_POLL_MS)) {
    const receipt = await provider.getTransactionReceipt(hash)
    if (receipt || performance.now() > giveUpAt) return receipt
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}
