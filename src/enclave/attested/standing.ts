import { programFault } from '../../chain/authorityView.js'
import type { SignerProgram } from '../../chain/signerProgram.js'
import type { ChainState } from '../chainState.js'

/**
 * Why a program may not open what it has sealed: `programFault` by the newest block of both operators' nodes.
 * @throws ChainUnavailableError, ChainAnswerError
 */
export async function objectionTo(own: SignerProgram, chain: Pick<ChainState, 'look' | 'authority'>) {
  const [{ head }, authority] = await Promise.all([chain.look(), chain.authority()])
  return programFault(own, authority, head.hash)
}
