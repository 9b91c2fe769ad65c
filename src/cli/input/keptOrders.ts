import { mkdir, open, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import type { SealedOrder } from '../../client/index.js'
import { postOrderSchema } from '../../protocol/api.js'
import { commitOf, type Envelope } from '../../protocol/envelope.js'
import type { Hex } from '../../protocol/hex.js'
import { UsageError } from '../failure.js'
import type { Environment } from './connection.js'
import { stateDirectory } from './stateDirectory.js'

/** The argument of `Client.submitOrder`. */
type SubmittableOrder = Pick<SealedOrder, 'orderId' | 'envelope' | 'commit'>

/**
 * Sealed orders between the opening of their escrow and their arrival at the server; until then only this machine has
 * them. A file holds the sealed envelope alone, which only the enclave can open.
 */
export interface KeptOrders {
  /** The file is durable when this resolves. */
  keep(order: { readonly orderId: Hex; readonly envelope: Envelope }): Promise<void>
  forget(orderId: Hex): Promise<void>
  /** @throws UsageError if there is no such order */
  find(orderId: Hex): Promise<SubmittableOrder>
}

export function createKeptOrders(env: Environment): KeptOrders {
  const directory = stateDirectory(env, 'orders')
  const pathOf = (orderId: Hex) => join(directory, `${orderId}.json`)
  return {
    async keep({ orderId, envelope }) {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      const file = await open(pathOf(orderId), 'wx', 0o600)
      try {
        await file.writeFile(JSON.stringify(z.encode(postOrderSchema, { orderId, ...envelope })))
        await file.sync()
      } finally {
        await file.close()
      }
    },
    async forget(orderId) {
      await unlink(pathOf(orderId)).catch(() => undefined)
    },
    async find(orderId) {
      const text = await readFile(pathOf(orderId), 'utf8').catch(() => {
        throw new UsageError(
          `no sealed order ${orderId} here: it reached the server, or was sealed on another machine`,
        )
      })
      const { orderId: kept, ...envelope } = postOrderSchema.parse(JSON.parse(text))
      return { orderId: kept, envelope, commit: commitOf(envelope) }
    },
  }
}
