// The doctor's findings, and the report of its enclave part: a file or a pipe between two programs.

import * as z from 'zod/mini'
import { addressSchema } from './address.js'
import { contractsSchema } from './api.js'
import { chainIdSchema } from './identifiers.js'
import { publicKeySchema } from './point.js'

export const findingSchema = z.strictObject({
  /** A stable kebab-case code for programs to branch on. */
  check: z.string().check(z.regex(/^[a-z-]{1,32}$/)),
  /**
   * `notice`: no fault, but worth the operator's attention. `unchecked`: not known yet, or not checkable from this
   * machine.
   */
  result: z.enum(['ok', 'notice', 'fault', 'unchecked']),
  /** One line for a person; a fault's line includes the remedy. Never a secret, nor a URL, which may hold one. */
  text: z.string().check(z.maxLength(500), z.regex(/^[^\r\n]*$/)),
})
export type Finding = z.output<typeof findingSchema>

/** The public part of the enclave's configuration that must match the server's. */
const enclaveFactsSchema = z.strictObject({
  chainId: chainIdSchema,
  contracts: contractsSchema,
  /** Address of the key that signs authorizations. */
  signer: addressSchema,
  /** The public key that clients seal to, 33 bytes. */
  intentPublicKey: publicKeySchema,
  /** The fees of sales, in the setting's text form. */
  brokerFees: z.string().check(z.maxLength(500)),
  /** The broker's id of the trading account; null if the broker returned none. */
  brokerAccount: z.nullable(z.string().check(z.maxLength(128))),
})
export type EnclaveFacts = z.output<typeof enclaveFactsSchema>

export const enclaveReportSchema = z.strictObject({
  findings: z.array(findingSchema),
  /** Null if the configuration cannot be read. */
  facts: z.nullable(enclaveFactsSchema),
})
export type EnclaveReport = z.output<typeof enclaveReportSchema>

export const ok = (check: string, text: string): Finding => ({ check, result: 'ok', text })
export const notice = (check: string, text: string): Finding => ({ check, result: 'notice', text })
export const fault = (check: string, text: string): Finding => ({ check, result: 'fault', text })
export const unchecked = (check: string, text: string): Finding => ({ check, result: 'unchecked', text })
