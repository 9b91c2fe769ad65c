// Envelopes as they travel. What seals and opens them is in `envelope.ts`: a page that only reads answers does not load it.
import * as z from 'zod/mini'
import { hexBetween, hexOf } from './hex.js'
import { publicKeySchema } from './point.js'

/** The scheme's name in `GET /enclave-key`. */
export const ENVELOPE_SCHEME = 'service-ecies-v1'
/** Those of AES-GCM, as in `aesGcm.ts`. */
const [IV_BYTES, TAG_BYTES] = [12, 16]
/** The largest encoded policy: some 20,000 employees with a few restricted symbols each. */
export const MAX_ENCODED_BYTES = 524_288
/** Largest ciphertext of an order, of a rulebook and of a cancel, in bytes. A rulebook's is its encoding behind a header. */
export const MAX_ORDER_BYTES = 4_096
export const MAX_POLICY_BYTES = 1_087 + MAX_ENCODED_BYTES
export const MAX_CANCEL_BYTES = 4_096
/** A share of the master key, or the broker's keys. */
const MAX_PROVISION_BYTES = 1_024
/** Some 4,000 corporate actions. */
const MAX_REPORT_BYTES = 1_048_576

function envelopeSchema(maxBytes: number) {
  const [iv, tag] = [hexOf(IV_BYTES), hexOf(TAG_BYTES)]
  return z.strictObject({ epk: publicKeySchema, iv, ct: hexBetween(1, maxBytes), tag })
}

export const orderEnvelopeSchema = /* @__PURE__ */ envelopeSchema(MAX_ORDER_BYTES)
export const policyEnvelopeSchema = /* @__PURE__ */ envelopeSchema(MAX_POLICY_BYTES)
export const cancelEnvelopeSchema = /* @__PURE__ */ envelopeSchema(MAX_CANCEL_BYTES)
export const reportEnvelopeSchema = /* @__PURE__ */ envelopeSchema(MAX_REPORT_BYTES)
export const provisionEnvelopeSchema = /* @__PURE__ */ envelopeSchema(MAX_PROVISION_BYTES)
