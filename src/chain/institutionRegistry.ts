import type { BlockTag } from 'ethers'
import type { Hex } from '../protocol/hex.js'
import { createContractReader, type ViewCaller } from './contractReader.js'
import { institutionRegistryAbi } from './generated/institutionRegistryAbi.js'
import { addressValue, boolValue, bytes32Value, numberValue } from './values.js'

/** Views of `InstitutionRegistry`. Zero bytes and the zero address mean "none". */
export interface InstitutionRegistry {
  readonly address: Hex
  adminOf(orgId: Hex, block?: BlockTag): Promise<Hex>
  orgOf(wallet: Hex, block?: BlockTag): Promise<Hex>
  walletCount(orgId: Hex, block?: BlockTag): Promise<number>
  isAdmitted(orgId: Hex, block?: BlockTag): Promise<boolean>
  /** Unix seconds; 0 when the wallet is not leaving. */
  leavingAt(wallet: Hex, block?: BlockTag): Promise<number>
}

export function createInstitutionRegistry(caller: ViewCaller, address: Hex): InstitutionRegistry {
  const { read } = createContractReader(caller, address, institutionRegistryAbi)
  return {
    address,
    adminOf: (orgId, block) => read('adminOf', [orgId], addressValue, block),
    orgOf: (wallet, block) => read('orgOf', [wallet], bytes32Value, block),
    walletCount: (orgId, block) => read('walletCount', [orgId], numberValue, block),
    isAdmitted: (orgId, block) => read('isAdmitted', [orgId], boolValue, block),
    leavingAt: (wallet, block) => read('leavingAt', [wallet], numberValue, block),
  }
}
