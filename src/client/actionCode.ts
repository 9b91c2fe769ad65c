// Reads corporate actions, and carries portfolios over them. It is loaded once the chain has any.
import * as z from 'zod/mini'
import { listedActionSchema, readActions } from '../chain/actionList.js'
import { isChainFailure } from '../chain/errors.js'
import type { CorporateAction } from '../protocol/corporateActions.js'
import type { Hex } from '../protocol/hex.js'
import { type Carried, createCarrier, type StoredVersion } from './carrier.js'
import type { ClientContract } from './contract.js'
import { toTradingError } from './foreignErrors.js'
import type { Keyring } from './keyring.js'
import { createNode } from './node.js'
import type { Wallet } from './wallet.js'

const countSchema = z.pipe(z.bigint().check(z.minimum(0n)), z.transform(Number))

/** The whole list at a block. @param contract of `ACTIONS_ABI` */
export function readList(contract: ClientContract, block: number): Promise<CorporateAction[]> {
  return readActions({
    count: () => contract.read('count', [], countSchema, block),
    list: (from, to) => contract.read('list', [from, to], z.array(listedActionSchema), block),
  })
}

/** The newest portfolio of the wallet's account, carried over all actions of a block. */
export async function carriedOver(
  stored: StoredVersion,
  actions: readonly CorporateAction[],
  at: { readonly wallet: Wallet; readonly ledger: Hex; readonly keys: Keyring; readonly block: number },
): Promise<Carried> {
  const { wallet, ledger, keys, block } = at
  const rpc = createNode(wallet, wallet.signal)
  const carrier = createCarrier({ rpc, ledger, account: await wallet.account(), keys })
  try {
    return await carrier(stored, actions, block)
  } catch (error) {
    throw isChainFailure(error) ? toTradingError(error) : error
  }
}
