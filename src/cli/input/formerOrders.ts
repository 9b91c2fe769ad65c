import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client, Hex } from '../../client/index.js'
import { createFileOrderStore } from '../../client/store/index.js'
import { commitOf } from '../../protocol/envelope.js'
import { postOrderSchema } from '../../protocol/postedOrder.js'
import { jsonOf } from '../../protocol/strictJson.js'
import { type Environment, stateDirectory } from './connection.js'

/** The longest life of an order, in seconds. */
const LONGEST_S = 30 * 86_400

/**
 * Rewrites, in place, the files of the releases before 0.2, which held the body of `POST /orders` alone: for this wallet, and until the
 * last moment at which its order could end. A file of any other content stays as it is.
 */
export async function moveFormerOrders(
  env: Environment,
  client: Pick<Client, 'getPlatform' | 'getAccount'>,
): Promise<void> {
  const directory = stateDirectory(env, 'orders')
  const store = createFileOrderStore(directory)
  for (const name of await readdir(directory).catch(() => [])) {
    const path = join(directory, name)
    const former = postOrderSchema.safeParse(jsonOf(await readFile(path, 'utf8').catch(() => '')))
    if (!former.success || name !== `${former.data.orderId}.json`) continue
    const { orderId, opening, ...envelope } = former.data
    const { chainId, escrow } = await client.getPlatform()
    const account: Hex = opening?.account ?? (await client.getAccount())
    const deadline = opening?.deadline ?? Math.floor((await stat(path)).mtimeMs / 1_000) + LONGEST_S
    const order = { orderId, envelope, commit: commitOf(envelope), ...(opening && { opening }) }
    await store.keep({ chainId, escrow, account, deadline, ...order })
  }
}
