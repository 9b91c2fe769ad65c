// The public list of corporate actions, as the account's node has it.
import type { CorporateAction } from '../protocol/corporateActions.js'
import { bytes32Schema, type Hex, ZERO_BYTES32 } from '../protocol/hex.js'
import { ACTIONS_ABI } from './abis.js'
import { createContract } from './contract.js'
import { later } from './later.js'
import type { Wallet } from './wallet.js'

/** Most chains have no corporate action for months, and this code waits for the first one. */
export const actionCode = /* @__PURE__ */ later(
  () => import('./actionCode.js'),
  (code) => code,
)

/** The list at a block. It is read again when its hash says that it has grown, a few times a year for most symbols. */
export type ActionList = (wallet: Wallet, address: Hex, block: number) => Promise<readonly CorporateAction[]>

export function createActionList(): ActionList {
  let known: { readonly hash: Hex; readonly actions: readonly CorporateAction[] } | undefined
  return async (wallet, address, block) => {
    const contract = createContract({ wallet, address, abi: ACTIONS_ABI })
    const hash = await contract.read('listHash', [], bytes32Schema, block)
    if (hash === ZERO_BYTES32) return []
    if (known?.hash === hash) return known.actions
    const { readList } = await actionCode(wallet.signal)
    const actions = await readList(contract, block)
    known = { hash, actions }
    return actions
  }
}
