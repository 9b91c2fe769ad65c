import { institutionRegistryErrors } from '../chain/generated/institutionRegistryAbi.js'

/** What a member, its admin and a lost wallet's owner call. */
export const REGISTRY_ABI = [
  'function orgOf(address wallet) view returns (bytes32)',
  'function registerInstitution(bytes32 orgId)',
  'function join(bytes32 orgId)',
  'function leaveInstitution()',
  'function leavingAt(address wallet) view returns (uint64)',
  'function setMember(address wallet, bool member)',
  'function moveOf(address from) view returns ((bytes32 orgId, address to, uint64 effectiveAt, bool hasBegun, bytes userPubKey))',
  'function proposeMove(address from, address to)',
  'function acceptMove(address from, bytes userPubKey)',
  'function withdrawMove(address from)',
  ...institutionRegistryErrors,
]
