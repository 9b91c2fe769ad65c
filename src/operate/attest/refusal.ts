// Evidence that does not hold ends a command, with the code of the check and a reason for people.
import { AttestationError, type AttestationErrorCode } from '../../attestation/errors.js'
import { type Outcome, outcomeOf } from '../../attestation/judge.js'
import { programFault } from '../../chain/authorityView.js'
import type { Authority } from '../../chain/contracts.js'
import type { SignerProgram } from '../../chain/signerProgram.js'
import { CommandError } from '../../terminal/failure.js'

/** Why evidence is refused. Of the others the code says enough. */
const REASONS: Partial<Record<AttestationErrorCode, string>> = {
  'unsupported-format': 'this program does not know its format',
  'unknown-root': 'its chain does not begin with the root of the maker of the hardware',
  'broken-chain': 'its chain of certificates is broken',
  'certificate-expired': 'one of its certificates is not in force',
  'certificate-misused': 'one of its certificates is for something else',
  'invalid-signature': 'the hardware did not sign it',
  'debug-mode': 'the enclave runs in debug mode: the operator can read its memory',
  'collateral-missing': 'it lacks what Intel signed about the processor',
  'collateral-expired': 'what Intel signed about the processor is not in force',
  'collateral-differs': 'it has what Intel signed about another kind of processor',
  'certificate-revoked': 'Intel has revoked one of its certificates',
  'untrusted-platform': 'firmware, module or machine are not as Intel says that they have to be',
  'log-differs': 'its log is not what the hardware measured',
  outdated: 'it is older than two hours, or from the future',
  'unknown-program': 'the program is none of the policy',
  'retired-program': 'the policy accepts the program no more',
  'statement-differs': 'it is about another statement',
  'malformed-statement': 'its statement is none of such an enclave',
  'wrong-chain': 'it is of another chain',
  'wrong-escrow': 'it is of another deployment',
  'wrong-signer': 'it binds another signer than the one that is named',
  'wrong-configuration': 'the program is accepted, but not with this configuration',
}

const CODES = {
  refused: 'evidence-refused',
  unreadable: 'evidence-unreadable',
  unsupported: 'evidence-unsupported',
} as const satisfies Record<Outcome, string>

/** @throws CommandError `evidence-refused`, `evidence-unreadable`, `evidence-unsupported`, whose fault is the code of the check */
export async function orRefused<T>(verification: () => Promise<T>): Promise<T> {
  try {
    return await verification()
  } catch (error) {
    if (!(error instanceof AttestationError)) throw error
    const { code } = error
    const text = `the evidence of the enclave does not hold: ${REASONS[code] ?? code}`
    throw new CommandError(CODES[outcomeOf(code)], text, null, [code])
  }
}

/**
 * Whatever a policy says, which may be an old one.
 * @throws CommandError `evidence-refused`, whose fault is `revoked-program` or `unannounced-program`; ChainUnavailableError, ChainAnswerError
 */
export async function assertNamed(
  program: SignerProgram,
  authority: Authority,
  isNext = false,
): Promise<void> {
  const found = await programFault(program, authority)
  if (found === 'revoked-program') throw unnamed(found, 'the guardian has revoked its program')
  if (found === 'unannounced-program' && !isNext)
    throw unnamed(found, 'the chain names another program or configuration, in force and as the next')
}

function unnamed(code: string, reason: string): CommandError {
  const text = `the evidence of the enclave does not hold: ${reason}`
  return new CommandError('evidence-refused', text, null, [code])
}
