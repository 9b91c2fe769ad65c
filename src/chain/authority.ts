import type { BlockTag } from 'ethers'
import { z } from 'zod'
import type { Hex } from '../protocol/hex.js'
import { createContractReader, type ViewCaller } from './contractReader.js'
import { authorityAbi } from './generated/authorityAbi.js'
import { addressValue, numberValue } from './values.js'

/** The contract's enum, in its order. */
const ROLES = ['owner', 'guardian', 'signer'] as const
/** What the owner can hand to another address. */
export type AuthorityRole = (typeof ROLES)[number]

/** Who takes a role over, and when. */
export interface PendingRotation {
  readonly to: Hex
  /** Unix seconds. */
  readonly effectiveAt: number
}

const pendingValue = z
  .object({ to: addressValue, effectiveAt: numberValue })
  .transform((pending): PendingRotation | null => (pending.effectiveAt === 0 ? null : pending))

/** Views of `Authority`, which each of the five contracts names. */
export interface Authority {
  readonly address: Hex
  enclaveSigner(block?: BlockTag): Promise<Hex>
  /** Null when the role stays where it is. */
  pendingRotation(role: AuthorityRole, block?: BlockTag): Promise<PendingRotation | null>
  /** Unix seconds at which the pause ends; 0 when the platform is not paused. */
  pausedUntil(block?: BlockTag): Promise<number>
}

export function createAuthority(caller: ViewCaller, address: Hex): Authority {
  const { read } = createContractReader(caller, address, authorityAbi)
  return {
    address,
    enclaveSigner: (block) => read('enclaveSigner', [], addressValue, block),
    pendingRotation: (role, block) => read('pendingRotation', [ROLES.indexOf(role)], pendingValue, block),
    pausedUntil: (block) => read('pausedUntil', [], numberValue, block),
  }
}
