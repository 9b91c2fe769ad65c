import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Interface } from 'ethers'
import { equityTokenAbi } from '../../../src/chain/generated/equityTokenAbi.js'
import { orderEscrowAbi } from '../../../src/chain/generated/orderEscrowAbi.js'
import type { SealedOrder } from '../../../src/client/index.js'
import { bytesToHex, type Hex } from '../../../src/protocol/hex.js'
import { sendAll } from '../../../src/sandbox/transactions.js'
import type { Desk } from './platform.js'

/** Copied orders: a cleared wallet opens one for another wallet's commit, and posts that envelope under an id of its own. */
export interface Copies {
  /** Lets the wallet open orders. */
  clear(): Promise<void>
  /** @throws when a reorganization takes the opening away */
  copy(sealed: SealedOrder): Promise<void>
  /** Counts those that have not ended. */
  open(): Promise<number>
  /** Bodies of `POST /orders`: the envelope under the copy's id, and under that of the copied order. */
  bodies(): readonly (readonly [string, string])[]
  ids(): ReadonlySet<Hex>
  /** Lists the copies that had an effect. */
  faults(): Promise<string[]>
}

const LIFETIME_SECONDS = 6 * 3_600
const KEPT = 20

export function createCopies({ sandbox, contracts, bench }: Desk): Copies {
  const { newcomer, owner } = sandbox.accounts
  const ids = new Set<Hex>()
  const bodies: (readonly [string, string])[] = []

  const states = () =>
    Promise.all([...ids].map(async (id) => ({ id, state: (await contracts.escrow.orders(id)).state })))

  return {
    clear: () =>
      sendAll(sandbox.provider, owner, [
        {
          to: contracts.token.address,
          abi: new Interface(equityTokenAbi),
          method: 'setKyc',
          args: [newcomer.address, true],
        },
      ]),
    async copy({ commit, envelope, orderId: copied }) {
      const orderId = bytesToHex(randomBytes(32))
      ids.add(orderId)
      await writeFile(join(bench, 'accounts', orderId), newcomer.address)
      const deadline = Math.floor(Date.now() / 1_000) + LIFETIME_SECONDS
      await sendAll(sandbox.provider, newcomer, [
        {
          to: contracts.escrow.address,
          abi: new Interface(orderEscrowAbi),
          method: 'openRequest',
          args: [orderId, commit, deadline],
        },
      ])
      bodies.push(['/orders', JSON.stringify({ orderId, ...envelope })])
      bodies.push(['/orders', JSON.stringify({ orderId: copied, ...envelope })])
      bodies.splice(0, bodies.length - KEPT)
    },
    bodies: () => bodies,
    ids: () => ids,
    open: async () => (await states()).filter(({ state }) => state === 'OPEN').length,
    faults: async () =>
      (await states())
        .filter(({ state }) => state === 'SETTLED')
        .map(({ id }) => `${id} was settled for another's commit`),
  }
}
