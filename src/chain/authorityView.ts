import type { BlockTag } from 'ethers'
import type { Hex } from '../protocol/hex.js'
import { type Authority, createAuthority, createOrderEscrow, type PendingRotation } from './contracts.js'
import type { Rpc } from './rpc.js'
import { isSameProgram, type SignerProgram } from './signerProgram.js'
import { createViewCaller } from './views.js'

/** The authority of an escrow at a block. */
export function createAuthorityView(rpc: Pick<Rpc, 'send'>) {
  const caller = createViewCaller(rpc)
  return async (escrow: Hex, block?: BlockTag) =>
    createAuthority(caller, await createOrderEscrow(caller, escrow).authority(block))
}

/**
 * Why the chain has no trust in a program, at a block: the guardian has revoked it, or the owner has named another one, and not this one as
 * the next. Undefined where it has, and while it names none.
 * @throws ChainUnavailableError, ChainAnswerError
 */
export async function programFault(
  program: SignerProgram,
  authority: Pick<Authority, 'isRevoked' | 'signerProgram' | 'pendingProgram'>,
  block?: BlockTag,
): Promise<'revoked-program' | 'unannounced-program' | undefined> {
  const [isRevoked, inForce, next] = await Promise.all([
    authority.isRevoked(program.measurement, block),
    authority.signerProgram(block),
    authority.pendingProgram(block),
  ])
  if (isRevoked) return 'revoked-program'
  const isNamed = [inForce, next].some((named) => isSameProgram(named, program))
  return inForce === null || isNamed ? undefined : 'unannounced-program'
}

/** The platform's owner at a block, as the escrow's authority has it. */
export function createOwnerView(rpc: Pick<Rpc, 'send'>): (escrow: Hex, block: BlockTag) => Promise<Hex> {
  const authorityOf = createAuthorityView(rpc)
  return async (escrow, block) => (await authorityOf(escrow, block)).owner(block)
}

/** Whose signatures the contracts take. */
export interface Signers {
  /** Zero where there is none yet. */
  readonly signer: Hex
  /** Null where no change is scheduled. */
  readonly pending: PendingRotation | null
}

/** The enclave's signers at a block, as the escrow's authority has them. */
export function createSignersView(rpc: Pick<Rpc, 'send'>) {
  const authorityOf = createAuthorityView(rpc)
  return async (escrow: Hex, block?: BlockTag): Promise<Signers> => {
    const authority = await authorityOf(escrow, block)
    const [signer, pending] = await Promise.all([
      authority.enclaveSigner(block),
      authority.pendingRotation('signer', block),
    ])
    return { signer, pending }
  }
}
