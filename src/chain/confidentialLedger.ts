import type { BlockTag } from 'ethers'
import type { Hex } from '../protocol/hex.js'
import { createContractReader, type ViewCaller } from './contractReader.js'
import { confidentialLedgerAbi } from './generated/confidentialLedgerAbi.js'
import { boolValue, bytes32Value, bytesValue, numberValue, uintValue } from './values.js'

/** Views of `ConfidentialLedger`. A blob that was never written is `0x`, its version 0. */
export interface ConfidentialLedger {
  readonly address: Hex
  enclaveBlob(accountId: Hex, block?: BlockTag): Promise<Hex>
  portfolioVersion(accountId: Hex, block?: BlockTag): Promise<bigint>
  /** The running hash of all writes of the portfolio; zero before the first. */
  portfolioHash(accountId: Hex, block?: BlockTag): Promise<Hex>
  policyBlob(orgId: Hex, block?: BlockTag): Promise<Hex>
  policyVersion(orgId: Hex, block?: BlockTag): Promise<number>
  usedDigest(digest: Hex, block?: BlockTag): Promise<boolean>
}

export function createConfidentialLedger(caller: ViewCaller, address: Hex): ConfidentialLedger {
  const { read } = createContractReader(caller, address, confidentialLedgerAbi)
  return {
    address,
    enclaveBlob: (accountId, block) => read('enclaveBlob', [accountId], bytesValue, block),
    portfolioVersion: (accountId, block) => read('portfolioVersion', [accountId], uintValue, block),
    portfolioHash: (accountId, block) => read('portfolioHash', [accountId], bytes32Value, block),
    policyBlob: (orgId, block) => read('policyBlob', [orgId], bytesValue, block),
    policyVersion: (orgId, block) => read('policyVersion', [orgId], numberValue, block),
    usedDigest: (digest, block) => read('usedDigest', [digest], boolValue, block),
  }
}
