// Decisions of the platform's owner, as `POST /resolutions` takes them.
import { publicKeySchema } from '../../src/protocol/point.js'
import {
  type OrderResolution,
  type PostResolution,
  resolutionDigest,
  sealedResolutionDigest,
  sealResolution,
} from '../../src/protocol/resolution.js'
import { signDigest } from '../../src/protocol/signDigest.js'
import type { TestChain } from './chain.js'
import { bytes32 } from './institution.js'
import { ROLES, type Role } from './roles.js'
import { SERVER_ENVIRONMENT } from './serverEnvironment.js'

const RELEASE: Omit<OrderResolution, 'validBefore'> = {
  ...{ resolves: 'order', v: 1, orderId: bytes32('stuck'), entryHash: bytes32('entry') },
  ...{ quantity: 0n, value: 0n },
}

/** The body of a resolution for an hour that a role's key signs outside the seal; inside it the owner's signs. */
export async function signedResolution(
  chain: TestChain,
  role: Role = 'owner',
  validBefore = Math.floor(Date.now() / 1_000) + 3_600,
): Promise<PostResolution> {
  const domain = { chainId: chain.anvil.chainId, escrow: chain.addresses.orderEscrow }
  const keyOf = (each: Role) => chain.anvil.accounts[ROLES.indexOf(each)]?.privateKey ?? '0x'
  const unsigned = { ...RELEASE, validBefore }
  const sig = signDigest(resolutionDigest(unsigned, domain), keyOf('owner'))
  const key = publicKeySchema.parse(SERVER_ENVIRONMENT.INTENT_PUBKEY)
  const envelope = await sealResolution({ ...unsigned, sig }, key, domain)
  const digest = sealedResolutionDigest(envelope, validBefore, domain)
  return { ...envelope, validBefore, sig: signDigest(digest, keyOf(role)) }
}
