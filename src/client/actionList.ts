// The public list of corporate actions, as the account's node has it.
import * as z from 'zod/mini'
import { listedActionSchema, readActions } from '../chain/actionList.js'
import type { CorporateAction } from '../protocol/corporateActions.js'
import { bytes32Schema, type Hex, ZERO_BYTES32 } from '../protocol/hex.js'
import { ACTIONS_ABI } from './abis.js'
import { createContract } from './contract.js'
import type { Wallet } from './wallet.js'

const countSchema = z.pipe(z.bigint().check(z.minimum(0n)), z.transform(Number))

/** The list at a block. It is read again when its hash says that it has grown, a few times a year for most symbols. */
export type ActionList = (wallet: Wallet, address: Hex, block: number) => Promise<readonly CorporateAction[]>

export function createActionList(): ActionList {
  let known: { readonly hash: Hex; readonly actions: readonly CorporateAction[] } | undefined
  return async (wallet, address, block) => {
    const contract = createContract({ wallet, address, abi: ACTIONS_ABI })
    const hash = await contract.read('listHash', [], bytes32Schema, block)
    if (hash === ZERO_BYTES32) return []
    if (known?.hash === hash) return known.actions
    const actions = await readActions({
      count: () => contract.read('count', [], countSchema, block),
      list: (from, to) => contract.read('list', [from, to], z.array(listedActionSchema), block),
    })
    known = { hash, actions }
    return actions
  }
}
