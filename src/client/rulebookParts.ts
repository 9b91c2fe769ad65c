import { type Hex, hexBetween, hexLength } from '../protocol/hex.js'
import { partsOfLength } from '../protocol/ledgerBlob.js'
import { PENDING_ABI } from './abis.js'
import { createContract } from './contract.js'
import { sleep } from './retry.js'
import type { Wallet } from './wallet.js'

/** How much of a rulebook is on the chain while it is published. It takes force with its last part. */
export interface PartsOnChain {
  readonly written: number
  readonly parts: number
}

/** The ledger answers with all the parts that it has, so it is asked less often than once a block. */
const POLL_MS = 4_000
/** No rulebook is this long. */
const MOST_BYTES = 2 ** 20

/**
 * Reports the parts on the chain whenever their number changes: it falls where they were another rulebook's. A node that does not answer costs the progress alone.
 * @throws what `onProgress` throws
 */
export async function watchParts(
  {
    orgId,
    ledger,
    encodedBytes,
  }: { readonly orgId: Hex; readonly ledger: Hex; readonly encodedBytes: number },
  wallet: Wallet,
  onProgress: (progress: PartsOnChain) => void,
  over: AbortSignal,
): Promise<void> {
  const { parts, partBytes } = partsOfLength(encodedBytes)
  if (parts < 2) return
  const contract = createContract({ wallet, address: ledger, abi: PENDING_ABI })
  for (let told = 0; !over.aborted; await sleep(POLL_MS, over).catch(() => undefined)) {
    const blob = await contract
      .read<Hex>('pendingPolicyBlob', [orgId], hexBetween(0, MOST_BYTES))
      .catch((): Hex => '0x')
    const written = Math.min(parts - 1, Math.round(hexLength(blob) / partBytes))
    if (written === told || over.aborted) continue
    told = written
    onProgress({ written, parts })
  }
}
