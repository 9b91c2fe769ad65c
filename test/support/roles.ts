import type { Hex } from '../../src/protocol/hex.js'

/** The enclave's signing key in tests. It holds no gas. */
export const ENCLAVE_KEY: Hex = `0x${'e1'.repeat(32)}`
/** The address of `ENCLAVE_KEY`. */
export const ENCLAVE_SIGNER: Hex = '0xB22CE629B429C75aCfD5c43a939b1551acd4b17f'

/** The funded accounts of a test chain by what they do, in the order of the chain's list. */
export const ROLES = [
  'deployer',
  'owner',
  'admin',
  'alice',
  'bob',
  'carol',
  'dave',
  'relayer',
  'broker',
  'guardian',
] as const
export type Role = (typeof ROLES)[number]
