// What the doctor found, and what its enclave part hands over: a file or a pipe between two programs.
import * as z from 'zod'
import { addressSchema } from './address.js'
import { contractsSchema } from './api.js'
import { chainIdSchema } from './identifiers.js'
import { publicKeySchema } from './publicKey.js'

export const findingSchema = z.strictObject({
  /** Stable and kebab-case: what a program branches on. */
  check: z.string().regex(/^[a-z-]{1,32}$/),
  /** `notice`: no fault, but worth the operator's attention. `unchecked`: not known yet, or not from this machine. */
  result: z.enum(['ok', 'notice', 'fault', 'unchecked']),
  /** One line for a person; of a fault, with what to mend. Never a secret, nor a URL, which may hold one. */
  text: z
    .string()
    .max(500)
    .regex(/^[^\r\n]*$/),
})
export type Finding = z.output<typeof findingSchema>

/** Of the enclave's configuration, what is no secret and must fit the server's. */
const enclaveFactsSchema = z.strictObject({
  chainId: chainIdSchema,
  contracts: contractsSchema,
  /** Address of the key that signs authorizations. */
  signer: addressSchema,
  /** 33 bytes: of the key that opens what clients seal. */
  intentPublicKey: publicKeySchema,
  /** What sales pay, as the setting has it. */
  brokerFees: z.string().max(500),
  /** The broker's id of the account that trades; null when the broker did not tell. */
  brokerAccount: z.string().max(128).nullable(),
})
export type EnclaveFacts = z.output<typeof enclaveFactsSchema>

export const enclaveReportSchema = z.strictObject({
  findings: z.array(findingSchema),
  /** Null when the configuration cannot be read. */
  facts: enclaveFactsSchema.nullable(),
})
export type EnclaveReport = z.output<typeof enclaveReportSchema>

export const ok = (check: string, text: string): Finding => ({ check, result: 'ok', text })
export const notice = (check: string, text: string): Finding => ({ check, result: 'notice', text })
export const fault = (check: string, text: string): Finding => ({ check, result: 'fault', text })
export const unchecked = (check: string, text: string): Finding => ({ check, result: 'unchecked', text })
