import { type Provider, zeroPadValue } from 'ethers'
import { confidentialLedgerAbi } from '../../src/chain/generated/confidentialLedgerAbi.js'
import { institutionRegistryAbi } from '../../src/chain/generated/institutionRegistryAbi.js'
import type { Hex } from '../../src/client/index.js'
import { hexOf } from '../../src/protocol/hex.js'
import type { Settings } from '../settings.js'
import type { Ask } from '../state/query.js'
import { contractsOf } from './contracts.js'
import { createLogTail, topicOf } from './logs.js'
import { once } from './once.js'
import type { ChainLog } from './parts.js'

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
  provider: Provider,
  { pins, chain }: Settings,
  { orgId, wallet }: { readonly orgId: Hex; readonly wallet: Hex },
): Ask<Standing | null> {
  const { firstBlock: fromBlock } = chain
  const begun = once(async () => {
    const { registry, ledger } = await contractsOf(provider, pins.escrow)
    const member = [CHANGED, orgId, zeroPadValue(wallet, 32)]
    return {
      published: createLogTail(provider, { address: ledger, topics: [PUBLISHED, orgId], fromBlock, most: 1 }),
      changed: createLogTail(provider, { address: registry, topics: member, fromBlock }),
    }
  })
  return async (signal) => {
    const { published, changed } = await begun()
    const [last, changes] = await Promise.all([published({ signal }), changed({ signal })])
    const rulebook = last.logs.at(-1)
    if (rulebook === undefined || !last.complete || !changes.complete) return null
    return standingAt(rulebook, changes.logs)
  }
}

type Moment = Pick<ChainLog, 'blockNumber' | 'index'>

/** @param changes the wallet's membership changes in the institution, oldest first */
export function standingAt(
  rulebook: Moment,
  changes: readonly (Moment & Pick<ChainLog, 'data'>)[],
): Standing {
  const before = changes.filter(
    ({ blockNumber, index }) =>
      blockNumber < rulebook.blockNumber || (blockNumber === rulebook.blockNumber && index < rulebook.index),
  )
  const last = before.at(-1)
  if (last === undefined) return 'outsider'
  return BigInt(flagSchema.parse(last.data)) === 1n ? 'member' : 'invited'
}
