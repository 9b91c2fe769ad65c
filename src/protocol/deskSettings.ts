import * as z from 'zod/mini'
import { addressSchema } from './address.js'
import { bytes32Schema } from './hex.js'
import { chainIdSchema } from './identifiers.js'
import { publicKeySchema } from './point.js'
import { secureUrlSchema } from './secureUrl.js'

/** An account whose key the local chain holds, so the page needs none. Never set it on a chain of value. */
const demoWalletSchema = z.strictObject({ name: z.string(), part: z.string(), address: addressSchema })
export type DemoWallet = z.output<typeof demoWalletSchema>

const registersSchema = z.record(z.string(), z.string())
/** A program of the policy in docs/attestation.md. The verifier judges whether it is pinned. */
const acceptedProgramSchema = z.strictObject({
  label: z.string(),
  pcrs: z.exactOptional(registersSchema),
  nitrotpm_pcrs: z.exactOptional(registersSchema),
  tdx: z.exactOptional(
    z.strictObject({
      ...{ mrtd: z.string(), rtmr0: z.string(), rtmr1: z.string(), rtmr2: z.string() },
      ...{ composeHash: z.string(), keyProvider: z.string() },
    }),
  ),
  configuration: bytes32Schema,
  until: z.exactOptional(z.int()),
})

/** `desk.json`, served beside the page. The page's operator writes it. */
const settingsSchema = z.strictObject({
  serverUrl: secureUrlSchema,
  /** The only origin whose pages the server answers. */
  origin: secureUrlSchema,
  chain: z.strictObject({
    id: chainIdSchema,
    name: z.string(),
    /** A node that the page queries directly; null to query through the wallet. */
    rpcUrl: z.nullable(secureUrlSchema),
    /** The deployment's block: log queries start here. */
    firstBlock: z.int().check(z.minimum(0)),
    /** A block explorer for links to transactions, such as `https://etherscan.io`. */
    explorerUrl: z.optional(secureUrlSchema),
  }),
  /** Values that the page does not take from the server. Without `measurements` it has the key of the enclave, too. */
  pins: z.strictObject({ enclavePublicKey: z.optional(publicKeySchema), escrow: addressSchema }),
  /** The programs that the enclave may be of, which then proves it. */
  measurements: z.optional(z.array(acceptedProgramSchema).check(z.minLength(1))),
  demoWallets: z._default(z.array(demoWalletSchema), []),
})

function isTrusted({ pins, measurements }: z.output<typeof settingsSchema>): boolean {
  return pins.enclavePublicKey !== undefined || measurements !== undefined
}
const UNTRUSTED = 'neither measurements nor the key of the enclave'

export const deskSettingsSchema = settingsSchema.check(z.refine(isTrusted, UNTRUSTED))
export type DeskSettings = z.output<typeof deskSettingsSchema>

/** The same of a sandbox whose enclave is attested by a stand-in of hardware. A function, which no page that is shipped has. */
export function sandboxDeskSettings() {
  return z
    .extend(settingsSchema, {
      /** SHA-256 of the certificate of the stand-in's root, in hex. */
      testRoot: z.optional(z.string().check(z.regex(/^[0-9a-f]{64}$/))),
    })
    .check(z.refine(isTrusted, UNTRUSTED))
}
export type SandboxDeskSettings = z.output<ReturnType<typeof sandboxDeskSettings>>
