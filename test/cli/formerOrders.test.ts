import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { moveFormerOrders } from '../../src/cli/input/formerOrders.js'
import type { Hex, Platform } from '../../src/client/index.js'
import { createFileOrderStore } from '../../src/client/store/index.js'
import { postOrderSchema } from '../../src/protocol/postedOrder.js'
import { keptOrderOf } from '../client/store/keptOrderOf.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

const MONTH_S = 30 * 86_400
const WRITTEN = 1_800_000_000
const ACCOUNT: Hex = '0x5d5c99EdF529335160FF180fA141Dd4967fc00D2'
const { chainId, escrow } = keptOrderOf(0)
const place: Platform = {
  ...{ chainId, escrow, usdc: escrow, ledger: escrow, registry: escrow, token: escrow, actions: escrow },
  ...{ enclavePublicKey: '0x02', takesOpenings: true },
}
const client = { getPlatform: async () => place, getAccount: async () => ACCOUNT }

it('the files of former releases are rewritten as kept orders, once, and no other file is touched', async () => {
  const state = await temporaryDirectory()
  const directory = join(state, 'confidential-trading', 'orders')
  await mkdir(directory, { recursive: true })
  const [sent, signed] = [keptOrderOf(1), keptOrderOf(2)]
  const opening = {
    account: sent.account,
    amount: 5n,
    deadline: 7,
    validBefore: 6,
    sig: `0x${'02'.repeat(65)}` as const,
  }
  const former = async ({ orderId, envelope }: typeof sent, more: object = {}) => {
    const path = join(directory, `${orderId}.json`)
    await writeFile(path, JSON.stringify(z.encode(postOrderSchema, { orderId, ...envelope, ...more })))
    await utimes(path, WRITTEN, WRITTEN)
  }
  await former(sent)
  await former(signed, { opening })
  await writeFile(join(directory, 'notes.json'), '{}')
  const store = createFileOrderStore(directory)
  await expect(store.find(sent.orderId)).rejects.toMatchObject({ code: 'invalid-kept-order' })

  const moved = [
    { ...sent, account: ACCOUNT, deadline: WRITTEN + MONTH_S },
    { ...signed, opening, deadline: opening.deadline },
  ]
  for (let times = 0; times < 2; times++) {
    await moveFormerOrders({ XDG_STATE_HOME: state }, client)
    for (const order of moved) expect(await store.find(order.orderId)).toEqual(order)
  }
  expect((await readdir(directory)).sort()).toEqual([
    `${sent.orderId}.json`,
    `${signed.orderId}.json`,
    'notes.json',
  ])
  expect(await readFile(join(directory, 'notes.json'), 'utf8')).toBe('{}')
})
