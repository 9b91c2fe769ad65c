import { zeroPadValue } from 'ethers'
import { confidentialLedgerAbi } from '../../src/chain/generated/confidentialLedgerAbi.js'
import { institutionRegistryAbi } from '../../src/chain/generated/institutionRegistryAbi.js'
import {
  type Eip1193Provider,
  type Hex,
  type ListedAt,
  type LogListing,
  type LogsQuery,
  readLogs,
} from '../../src/client/index.js'
import { hexOf } from '../../src/protocol/hex.js'
import type { Ask } from '../query.js'
import type { Settings } from '../settings.js'
import { contractsOf } from './contracts.js'
import { once } from './once.js'
import { topicOf } from './read.js'
import { createTail } from './tail.js'

/**
 * A wallet's standing in its institution when the rulebook in force was published. The list of wallets in the rulebook
 * is sealed; its admin can only have listed wallets known then. `outsider`: invited later.
 */
export type Standing = 'member' | 'invited' | 'outsider'

const CHANGED = topicOf(institutionRegistryAbi, 'MemberUpdated')
const PUBLISHED = topicOf(confidentialLedgerAbi, 'PolicyUpdated')
const flagSchema = hexOf(32)

/** Null without a rulebook, and until the chain has been read. */
export function createStandingReader(
  provider: Eip1193Provider,
  { pins, chain }: Settings,
  { orgId, wallet }: { readonly orgId: Hex; readonly wallet: Hex },
): Ask<Standing | null> {
  const { firstBlock: fromBlock } = chain
  const begun = once(async () => {
    const { registry, ledger } = await contractsOf(provider, pins.escrow)
    const member = [CHANGED, orgId, zeroPadValue(wallet, 32)]
    const tail = (query: LogsQuery, limit?: number) =>
      createTail<LogListing>((options) => readLogs(provider, query, { fromBlock, limit, ...options }))
    return {
      published: tail({ addresses: [ledger], topics: [PUBLISHED, orgId] }, 1),
      changed: tail({ addresses: [registry], topics: member }),
    }
  })
  return async (signal) => {
    const { published, changed } = await begun()
    const silently = () => undefined
    const [last, changes] = await Promise.all([published(signal, silently), changed(signal, silently)])
    const rulebook = last.logs.at(-1)
    if (rulebook === undefined || !last.isComplete || !changes.isComplete) return null
    return standingAt(rulebook, changes.logs)
  }
}

/** @param changes the wallet's membership changes in the institution, oldest first */
export function standingAt(
  rulebook: ListedAt,
  changes: readonly (ListedAt & { readonly data: string })[],
): Standing {
  const before = changes.filter(
    ({ blockNumber, logIndex }) =>
      blockNumber < rulebook.blockNumber ||
      (blockNumber === rulebook.blockNumber && logIndex < rulebook.logIndex),
  )
  const last = before.at(-1)
  if (last === undefined) return 'outsider'
  return BigInt(flagSchema.parse(last.data)) === 1n ? 'member' : 'invited'
}
