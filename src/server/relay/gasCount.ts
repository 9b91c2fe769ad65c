import type { Hex } from '../../protocol/hex.js'
import { createRecentMap } from '../../service/recentMap.js'
import type { MinedTransaction } from './mined.js'

/** Gas of a mined transaction that is not counted yet: what it used, and nothing when it is asked again. */
export type GasCount = (transaction: Pick<MinedTransaction, 'hash' | 'gasUsed'>) => bigint

/** Transactions whose gas is known to be counted. */
const MAX_COUNTED = 4_096

/** A transaction may be found several times: after a reorganization, or by an authorization whose end the disk refuses. */
export function createGasCount(): GasCount {
  const counted = createRecentMap<Hex, true>(MAX_COUNTED)
  return ({ hash, gasUsed }) => {
    if (counted.get(hash) !== undefined) return 0n
    counted.set(hash, true)
    return gasUsed
  }
}
