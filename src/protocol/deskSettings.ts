import * as z from 'zod'
import { addressSchema } from './address.js'
import { chainIdSchema } from './identifiers.js'
import { publicKeySchema } from './publicKey.js'
import { secureUrlSchema } from './secureUrl.js'

/** An account whose key the local chain holds, so the page needs none. Never set it on a chain of value. */
const demoWalletSchema = z.strictObject({ name: z.string(), part: z.string(), address: addressSchema })
export type DemoWallet = z.output<typeof demoWalletSchema>

/** `desk.json`, served beside the page. The page's operator writes it. */
export const deskSettingsSchema = z.strictObject({
  serverUrl: secureUrlSchema,
  /** The only origin whose pages the server answers. */
  origin: secureUrlSchema,
  chain: z.strictObject({
    id: chainIdSchema,
    name: z.string(),
    /** A node that the page queries directly; null to query through the wallet. */
    rpcUrl: secureUrlSchema.nullable(),
    /** The deployment's block: log queries start here. */
    firstBlock: z.int().min(0),
    /** A block explorer for links to transactions, such as `https://etherscan.io`. */
    explorerUrl: secureUrlSchema.optional(),
  }),
  /** Values that the page does not take from the server. */
  pins: z.strictObject({ enclavePublicKey: publicKeySchema, escrow: addressSchema }),
  demoWallets: z.array(demoWalletSchema).default([]),
})
export type DeskSettings = z.output<typeof deskSettingsSchema>
