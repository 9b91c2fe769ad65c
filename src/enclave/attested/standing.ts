import { isSameProgram, type SignerProgram } from '../../chain/signerProgram.js'
import type { ChainState } from '../chainState.js'

/**
 * Why a program may not open what it has sealed, by the newest block of both operators' nodes: the guardian has revoked it, or the owner has
 * named another one. Undefined where it may, and while the chain names none.
 * @throws ChainUnavailableError, ChainAnswerError
 */
export async function objectionTo(
  own: SignerProgram,
  chain: Pick<ChainState, 'look' | 'authority'>,
): Promise<'revoked program' | 'another program in force' | undefined> {
  const [{ head }, authority] = await Promise.all([chain.look(), chain.authority()])
  const [isRevoked, inForce, next] = await Promise.all([
    authority.isRevoked(own.measurement, head.hash),
    authority.signerProgram(head.hash),
    authority.pendingProgram(head.hash),
  ])
  if (isRevoked) return 'revoked program'
  const isNamed = [inForce, next].some((named) => isSameProgram(named, own))
  return inForce === null || isNamed ? undefined : 'another program in force'
}
