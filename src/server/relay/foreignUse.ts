import type { Hex } from '../../protocol/hex.js'
import type { Logger } from '../../service/logger.js'
import { createRecentMap } from '../../service/recentMap.js'
import type { FindNonceUse } from './nonceUse.js'

export interface ForeignUseOptions {
  readonly findNonceUse: FindNonceUse
  /** A nonce was used by a transaction that this server has not signed. What was signed under it can't be mined. */
  readonly onTaken: (nonce: number) => void
  /** The account's key is used elsewhere: called once for each transaction that shows it. */
  readonly onForeign: () => void
  readonly logger: Logger
}

/** Notices transactions of the account that this server has not signed. */
export interface ForeignUse {
  /** A transaction of this server, or of an earlier process of it. */
  own(hash: Hex): void
  /** The nonce is used on the chain, and it is not known by what. */
  suspect(nonce: number): void
  /** Finds out what has used the nonces that are suspected. What can't be asked is asked again. Never rejects. */
  check(head: number): Promise<void>
  /** Whether such a transaction was found within the last ten minutes. */
  isRecent(): boolean
}

/** For how long one foreign transaction is news. */
const RECENT_MS = 600_000
/** Own transactions that are remembered. */
const MAX_OWN = 4_096
/** Suspected nonces at once. Two servers meet again soon: one of many is enough to tell. */
const MAX_SUSPECTED = 16
/** Looks for one nonce: a block may not be there yet, or be too old. */
const MAX_LOOKS = 5

/**
 * A node without a receipt proves nothing: it may be behind, or out of order. So the block is looked for that has
 * used the nonce, and what it has there is compared with what was signed here.
 */
export function createForeignUse(options: ForeignUseOptions): ForeignUse {
  const { findNonceUse, logger } = options
  const own = createRecentMap<Hex, true>(MAX_OWN)
  const suspected = new Map<number, number>()
  let foundAt = Number.NEGATIVE_INFINITY

  async function look(nonce: number, head: number): Promise<void> {
    const looks = (suspected.get(nonce) ?? 0) + 1
    suspected.set(nonce, looks)
    const use = await findNonceUse(nonce, head)
    if (use !== undefined || looks >= MAX_LOOKS) suspected.delete(nonce)
    if (use === undefined || own.get(use.hash) !== undefined) return
    options.onTaken(nonce)
    // A killed process of this server may have left a filler, which is on no disk.
    if (use.isToItself) return
    foundAt = performance.now()
    logger.error('relayer key used elsewhere', { nonce, txHash: use.hash })
    options.onForeign()
  }

  return {
    own: (hash) => own.set(hash, true),
    suspect(nonce) {
      if (suspected.size < MAX_SUSPECTED && !suspected.has(nonce)) suspected.set(nonce, 0)
    },
    async check(head) {
      await Promise.allSettled([...suspected.keys()].map((nonce) => look(nonce, head)))
    },
    isRecent: () => performance.now() - foundAt < RECENT_MS,
  }
}
