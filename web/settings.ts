import * as z from 'zod'
import { addressSchema } from '../src/protocol/address.js'
import { publicKeySchema } from '../src/protocol/publicKey.js'

/** An account that a local chain signs for. Never set it where a chain is worth something. */
const demoWalletSchema = z.strictObject({ name: z.string(), part: z.string(), address: addressSchema })
export type DemoWallet = z.output<typeof demoWalletSchema>

/** `/desk.json`, beside the page: whoever serves the page writes it. */
const settingsSchema = z.strictObject({
  serverUrl: z.url(),
  /** The one origin whose pages the server answers. */
  origin: z.url(),
  chain: z.strictObject({
    id: z.int().positive(),
    name: z.string(),
    /** A node that the page may ask by itself; without one, it asks through the wallet. */
    rpcUrl: z.url().nullable(),
    /** The block of the deployment: nothing is looked for before it. */
    firstBlock: z.int().min(0).default(0),
  }),
  /** What the server is not believed. */
  pins: z.strictObject({ enclavePublicKey: publicKeySchema, escrow: addressSchema }),
  demoWallets: z.array(demoWalletSchema).default([]),
})
export type Settings = z.output<typeof settingsSchema>

/** @throws Error when there are none, or malformed ones */
export async function loadSettings(): Promise<Settings> {
  const response = await fetch('desk.json', { cache: 'no-store' })
  if (!response.ok) throw new Error(`desk.json is answered with ${response.status}`)
  return settingsSchema.parse(await response.json())
}
