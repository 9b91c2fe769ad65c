import { Interface } from 'ethers'
import { z } from 'zod'
import { orderEscrowAbi } from '../../../src/chain/generated/orderEscrowAbi.js'
import { bytes32Schema, type Hex } from '../../../src/protocol/hex.js'
import type { Desk } from './platform.js'

/** What the escrow's events tell of an order. */
export interface EscrowRecord {
  /** USDC base units that it held. */
  readonly amount: bigint
  readonly ends: readonly EscrowEnd[]
}

export interface EscrowEnd {
  readonly state: 'SETTLED' | 'REFUNDED'
  /** USDC base units that left the escrow. */
  readonly amount: bigint
  /** What was paid out to the account besides, in the asset's base units. */
  readonly payout: bigint
}

const escrow = new Interface(orderEscrowAbi)
const uint = z.bigint()
const argumentsSchema = z.discriminatedUnion('name', [
  z.object({ name: z.literal('OrderOpened'), orderId: bytes32Schema, amount: uint }),
  z.object({ name: z.literal('OrderSettled'), orderId: bytes32Schema, amount: uint, payout: uint }),
  z.object({ name: z.literal('OrderRefunded'), orderId: bytes32Schema, amount: uint }),
])

/** Every order of the chain, by its events from the first block on. */
export async function readEscrow({ sandbox, contracts }: Desk): Promise<Map<Hex, EscrowRecord>> {
  const address = contracts.escrow.address
  const logs = await sandbox.provider.getLogs({ address, fromBlock: 0, toBlock: 'latest' })
  const records = new Map<Hex, { amount: bigint; ends: EscrowEnd[] }>()
  for (const log of logs) {
    const parsed = escrow.parseLog(log)
    const event = argumentsSchema.safeParse({ name: parsed?.name, ...parsed?.args.toObject() })
    if (!event.success) continue
    const { orderId, amount } = event.data
    const record = records.get(orderId) ?? { amount: 0n, ends: [] }
    records.set(orderId, record)
    if (event.data.name === 'OrderOpened') record.amount = amount
    if (event.data.name === 'OrderSettled')
      record.ends.push({ state: 'SETTLED', amount, payout: event.data.payout })
    if (event.data.name === 'OrderRefunded') record.ends.push({ state: 'REFUNDED', amount, payout: 0n })
  }
  return records
}
