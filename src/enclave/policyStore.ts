import { z } from 'zod'
import { type Hex, hexToBytes } from '../protocol/hex.js'
import { type BlobPlace, ledgerKey, openBlob, sealBlob } from '../protocol/ledgerBlob.js'
import { type Policy, policySchema } from '../protocol/policy.js'
import type { ChainState } from './chainState.js'
import { RunFailure } from './failures.js'
import type { BlockPoint } from './heads.js'

/** An institution's rulebook as it stands on chain; null when none was published. */
export interface StoredPolicy {
  policy: Policy | null
  version: number
}

export interface PolicyStore {
  /** @throws RunFailure `ledger-unreadable`: a rulebook that does not open never counts as none */
  load(orgId: Hex, block: BlockPoint): Promise<StoredPolicy>
  /** Seals what is to be written as `version`, which must be the stored one + 1. */
  seal(orgId: Hex, policy: Policy, version: number): Promise<Hex>
}

export function createPolicyStore(chain: ChainState, masterKey: Hex): PolicyStore {
  const place = (id: Hex, version: number): BlobPlace => ({
    chainId: chain.chainId,
    ledger: chain.addresses.confidentialLedger,
    id,
    version: BigInt(version),
  })
  const keyOf = (id: Hex) => ledgerKey(hexToBytes(masterKey), 'org', id)
  /** Each institution's rulebook as it was opened last: most orders find the same blob on the chain. */
  const opened = new Map<Hex, { blob: Hex; version: number; policy: Policy }>()

  return {
    async load(orgId, block) {
      const [version, blob] = await Promise.all([
        chain.ledger.policyVersion(orgId, block.hash),
        chain.ledger.policyBlob(orgId, block.hash),
      ])
      if (version === 0) return { policy: null, version }
      const known = opened.get(orgId)
      if (known?.blob === blob && known.version === version) return { policy: known.policy, version }
      try {
        const policy = policySchema.parse(await openBlob(blob, keyOf(orgId), place(orgId, version)))
        opened.set(orgId, { blob, version, policy })
        return { policy, version }
      } catch {
        throw new RunFailure('ledger-unreadable')
      }
    },
    seal: (orgId, policy, version) =>
      sealBlob(z.encode(policySchema, policy), keyOf(orgId), place(orgId, version)),
  }
}
