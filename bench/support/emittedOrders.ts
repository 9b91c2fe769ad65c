import { randomBytes } from 'node:crypto'
import { concat, hexlify, type JsonRpcProvider, toBeHex, toQuantity } from 'ethers'
import { z } from 'zod'
import { interfaces } from '../../src/chain/interfaces.js'
import { waitForReceipt } from '../../src/chain/waitForReceipt.js'
import { bytesToHex, type Hex } from '../../src/protocol/hex.js'

const GAS_LIMIT = 16_000_000
const WORD_BYTES = 32
const LIFETIME_SECONDS = 86_400

export interface Emission {
  readonly escrow: Hex
  readonly from: Hex
  readonly name: 'OrderOpened' | 'OrderSettled'
  readonly orderIds: readonly Hex[]
  /** Each block has one transaction with so many events. */
  readonly perBlock: number
  /** Makes the block of a transaction, where the chain does not make it at once. */
  readonly mine?: () => Promise<unknown>
}

export function newOrderIds(count: number): Hex[] {
  return Array.from({ length: count }, () => bytesToHex(randomBytes(WORD_BYTES)))
}

/**
 * Has the escrow emit an event for each order, many in one transaction: a program for that alone takes its place for
 * that time. Opening and settling as many would take hours.
 */
export async function emitOrders(provider: JsonRpcProvider, emission: Emission): Promise<void> {
  const { escrow, from, name, orderIds, perBlock, mine } = emission
  const event = interfaces.orderEscrow.getEvent(name)
  if (event === null) throw new Error(`the escrow has no ${name}`)
  const deadline = Math.floor(Date.now() / 1_000) + LIFETIME_SECONDS
  // An opening has an amount, deadline and commit here; a settlement an amount, asset and payout.
  const data = [from, 1, deadline, 1].map((value) => toBeHex(value, WORD_BYTES))
  const code = z.string().parse(await provider.send('eth_getCode', [escrow, 'latest']))
  const indexed = event.inputs.filter((input) => input.indexed).length
  await provider.send('anvil_setCode', [escrow, emitterOf(indexed)])
  const hashes: string[] = []
  for (let at = 0; at < orderIds.length; at += perBlock) {
    const input = concat([event.topicHash, ...data, ...orderIds.slice(at, at + perBlock)])
    const transaction = { from, to: escrow, data: input, gas: toQuantity(GAS_LIMIT) }
    hashes.push(z.string().parse(await provider.send('eth_sendTransaction', [transaction])))
    await mine?.()
  }
  // All are alike but the last.
  for (const hash of [hashes.at(0) ?? '', hashes.at(-1) ?? '']) {
    const receipt = await waitForReceipt(provider, hash)
    if (receipt?.status !== 1) throw new Error('events were not emitted')
  }
  await provider.send('anvil_setCode', [escrow, code])
}

/**
 * A program that emits an event for each id in its input: topic 0, a word for a second indexed field, three words of data,
 * then the ids.
 */
function emitterOf(indexed: number): string {
  const begin = [
    ...[0x60, 0x60, 0x60, 0x40, 0x60, 0x00, 0x37], // CALLDATACOPY: the data, to memory
    ...[0x60, 0xa0], // where the ids begin
  ]
  const topics = [
    ...(indexed === 2 ? [0x60, 0x20, 0x35, 0x81, 0x35] : [0x80, 0x35]), // CALLDATALOAD: the second field; the id
    ...[0x60, 0x00, 0x35], // topic 0
  ]
  const emit = [...topics, 0x60, 0x60, 0x60, 0x00, 0xa1 + indexed] // LOG
  const next = [0x60, 0x20, 0x01, 0x60, begin.length, 0x56] // JUMP, with the next id's place
  const check = [0x5b, 0x36, 0x81, 0x10, 0x15, 0x60, 0, 0x57] // JUMPI, once the input is over
  check[6] = begin.length + check.length + emit.length + next.length
  return hexlify(Uint8Array.from([...begin, ...check, ...emit, ...next, 0x5b, 0x00]))
}
