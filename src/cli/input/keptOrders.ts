import { mkdir, readdir, readFile, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import type { SubmittableOrder } from '../../client/index.js'
import { postOrderSchema } from '../../protocol/api.js'
import { commitOf } from '../../protocol/envelope.js'
import type { Hex } from '../../protocol/hex.js'
import { usage } from '../../terminal/failure.js'
import { type Environment, stateDirectory } from './connection.js'

export type KeptOrders = ReturnType<typeof createKeptOrders>

/**
 * Sealed orders between the opening of their escrow and their arrival at the server; until then only this machine has
 * them. A file holds the sealed envelope, which only the enclave can open, and the signed opening of a sponsored order.
 */
export function createKeptOrders(env: Environment) {
  const directory = stateDirectory(env, 'orders')
  const pathOf = (orderId: Hex) => join(directory, `${orderId}.json`)
  const parse = (text: string): SubmittableOrder => {
    const { orderId, opening, ...envelope } = postOrderSchema.parse(JSON.parse(text))
    return { orderId, envelope, commit: commitOf(envelope), ...(opening && { opening }) }
  }
  return {
    /** The file is durable when this resolves. */
    async keep({ orderId, envelope, opening }: Omit<SubmittableOrder, 'commit'>): Promise<void> {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      const order = { orderId, ...envelope, ...(opening && { opening }) }
      const text = JSON.stringify(z.encode(postOrderSchema, order))
      await writeFile(pathOf(orderId), text, { flag: 'wx', mode: 0o600, flush: true })
    },
    async forget(orderId: Hex): Promise<void> {
      await unlink(pathOf(orderId)).catch(() => undefined)
    },
    /** @throws CommandError `usage` if there is no such order */
    async find(orderId: Hex): Promise<SubmittableOrder> {
      const text = await readFile(pathOf(orderId), 'utf8').catch(() => {
        throw usage(
          `no sealed order ${orderId} here: it reached the server, or was sealed on another machine`,
        )
      })
      return parse(text)
    },
    async all(): Promise<SubmittableOrder[]> {
      const names = await readdir(directory).catch(() => [])
      const texts = await Promise.all(names.map((name) => readFile(join(directory, name), 'utf8')))
      return texts.map(parse)
    },
  }
}
