import * as z from 'zod'
import { isName } from '../../client/admin.js'
import type { Client, Hex } from '../../client/index.js'
import { addressSchema } from '../../protocol/address.js'
import { type Environment, stateStore } from './connection.js'

const namesSchema = z.array(z.tuple([addressSchema, z.string().refine(isName)]))
const PURPOSE = 'names'

/** The names that an admin's files give to wallets. They stay on this machine, sealed to the admin's wallet. */
export function createKeptNames(env: Environment, client: Client) {
  const store = stateStore(env, 'names')
  async function record(): Promise<string> {
    const { chainId, escrow } = await client.getPlatform()
    return `names/${chainId}/${escrow}/${await client.getAccount()}`.toLowerCase()
  }
  return {
    /** Empty without any; null if no key opens those that are kept. */
    async open(): Promise<ReadonlyMap<Hex, string> | null> {
      const sealed = await store.get(await record())
      if (!sealed) return new Map()
      const opened = namesSchema.safeParse(await client.openFromDevice(PURPOSE, sealed))
      return opened.success ? new Map(opened.data) : null
    },
    /** Replaces those that are kept. The file is durable when this resolves. */
    async keep(names: ReadonlyMap<Hex, string>): Promise<void> {
      await store.set(await record(), await client.sealForDevice(PURPOSE, [...names]))
    },
  }
}
