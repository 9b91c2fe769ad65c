import * as z from 'zod'
import { addressSchema } from './address.js'
import { chainIdSchema } from './identifiers.js'
import { publicKeySchema } from './publicKey.js'

/** An account that a local chain signs for, so that no key is in the page. Never set it where a chain is worth something. */
const demoWalletSchema = z.strictObject({ name: z.string(), part: z.string(), address: addressSchema })
export type DemoWallet = z.output<typeof demoWalletSchema>

/** `desk.json`, which the page asks for beside it: whoever serves the page writes it. */
export const deskSettingsSchema = z.strictObject({
  serverUrl: z.url(),
  /** The one origin whose pages the server answers. */
  origin: z.url(),
  chain: z.strictObject({
    id: chainIdSchema,
    name: z.string(),
    /** A node that the page may ask by itself; without one, it asks through the wallet. */
    rpcUrl: z.url().nullable(),
    /** The block of the deployment: nothing is looked for before it. */
    firstBlock: z.int().min(0),
  }),
  /** What the server is not believed. */
  pins: z.strictObject({ enclavePublicKey: publicKeySchema, escrow: addressSchema }),
  demoWallets: z.array(demoWalletSchema).default([]),
})
export type DeskSettings = z.output<typeof deskSettingsSchema>
