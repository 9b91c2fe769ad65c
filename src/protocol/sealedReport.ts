// What an attested enclave reports at its door, for the owner alone: docs/attestation.md.

import * as z from 'zod/mini'
import { addressSchema } from './address.js'
import { type Envelope, type EnvelopePlace, open, seal } from './envelope.js'
import { reportEnvelopeSchema } from './envelopeForm.js'
import type { Bytes, Hex } from './hex.js'
import { bytes32Schema } from './hex.js'
import { domainBytes, type IntentDomain } from './intentDomain.js'

/** `POST /report`: one report. Without a member it is the doctor's. */
export const reportRequestSchema = z.union([
  z.strictObject({
    /** Whose portfolio the master key has to open. */
    account: z.optional(addressSchema),
    /** Whether to hold every portfolio against chain and broker. */
    money: z.optional(z.boolean()),
  }),
  /** Corporate actions. */
  z.strictObject({ actions: z.literal(true) }),
  /** The order of this id. */
  z.strictObject({ order: bytes32Schema }),
])
export type ReportRequest = z.output<typeof reportRequestSchema>

/** Its answer: an envelope of the kind `report-for-owner`. */
export const sealedReportSchema = z.strictObject({ envelope: reportEnvelopeSchema })

/** @param owner the first holder's public key */
export function sealReport(report: unknown, owner: Hex, domain: IntentDomain): Promise<Envelope> {
  return seal(report, owner, placeOf(domain))
}

/** The report, unvalidated. @throws ProtocolError `undecryptable`, `invalid-point`, `invalid-plaintext` */
export function openReport(envelope: Envelope, privateKey: Bytes, domain: IntentDomain): Promise<unknown> {
  return open(envelope, privateKey, placeOf(domain))
}

function placeOf(domain: IntentDomain): EnvelopePlace {
  return { kind: 'report-for-owner', context: domainBytes(domain) }
}
