// Verification as JSON in and JSON out: for commands, and for vectors that other programs read too.
import * as z from 'zod/mini'
import { addressSchema } from '../protocol/address.js'
import { hexBetween } from '../protocol/hex.js'
import { chainIdSchema } from '../protocol/identifiers.js'
import { AttestationError, type AttestationErrorCode } from './errors.js'
import { checkPolicy } from './policy.js'
import type { CommonStatement, Statement } from './statement.js'
import type { Expectation, Verified } from './verify.js'

const inputSchema = z.object({
  attestation: z.unknown(),
  expected: z.object({
    programs: z.unknown(),
    chainId: chainIdSchema,
    escrow: addressSchema,
    signer: addressSchema,
    /** Unix milliseconds; the clock's by default. */
    now: z.optional(z.int()),
    nonce: z.optional(hexBetween(0, 32)),
  }),
})

/**
 * `refused`: the attestation does not prove what is expected. `unreadable`: an input is malformed. `unsupported`: only a later version
 * may judge it.
 */
export type Outcome = 'refused' | 'unreadable' | 'unsupported'
export type Judgement<S extends CommonStatement = Statement> =
  | ({ readonly outcome: 'accepted' } & Verified<S>)
  | { readonly outcome: Outcome; readonly code: AttestationErrorCode }

/** @param input `{ attestation, expected }`, from JSON: what `verifyAttestation` takes */
export async function judge<S extends CommonStatement>(
  verify: (attestation: unknown, expected: Expectation) => Promise<Verified<S>>,
  input: unknown,
): Promise<Judgement<S>> {
  try {
    const { data } = inputSchema.safeParse(input)
    const programs = data?.expected.programs
    checkPolicy(programs)
    if (data === undefined) throw new AttestationError('malformed-policy')
    const expected = { ...data.expected, programs, now: data.expected.now ?? Date.now() }
    return { outcome: 'accepted', ...(await verify(data.attestation, expected)) }
  } catch (error) {
    if (!(error instanceof AttestationError)) throw error
    return { outcome: outcomeOf(error.code), code: error.code }
  }
}

/** What becomes of an attestation by the code of the check that fails. */
export function outcomeOf(code: AttestationErrorCode): Outcome {
  if (code.startsWith('malformed-')) return 'unreadable'
  return code.startsWith('unsupported-') ? 'unsupported' : 'refused'
}
