// What an enclave posts of its evidence, and who challenges it.
import * as z from 'zod/mini'
import { bytes32Schema } from './hex.js'

/** The body of `POST /attestation`: evidence of 24 kB in Base64 at most, and a statement of 4,096 characters. */
export const postAttestationSchema = z.strictObject({
  format: z.string().check(z.maxLength(32)),
  evidence: z.string().check(z.maxLength(32_768)),
  statement: z.string().check(z.maxLength(4_096)),
})

/** The answer: until when the server shows it. */
export const attestationReceivedSchema = z.object({ shownUntil: z.iso.datetime() })

/** The body of `POST /enclave-key/challenge`: random bytes that the evidence in its answer has to have. */
export const challengeSchema = z.strictObject({ nonce: bytes32Schema })
