import { concat, hexlify, Interface, toBeHex, toQuantity } from 'ethers'
import { z } from 'zod'
import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'
import type { Hex } from '../../src/protocol/hex.js'
import type { Sandbox } from '../../src/sandbox/sandbox.js'

/** Each block has one transaction with so many events. */
const PER_BLOCK = 2_000
const GAS_LIMIT = 16_000_000
const WORD_BYTES = 32
const LIFETIME_SECONDS = 86_400
const EVENTS = ['OrderOpened', 'OrderSettled'] as const
const escrowInterface = new Interface(orderEscrowAbi)

/**
 * Has the escrow emit the events of orders that were opened and settled, many in one transaction: meanwhile a program
 * that does nothing else stands at its address. Opening and settling as many would take hours.
 */
export async function emitEndedOrders(sandbox: Sandbox, orderIds: readonly Hex[]): Promise<void> {
  const { provider, info, accounts } = sandbox
  const escrow = info.contracts.orderEscrow
  const from = accounts.owner.address
  const code = z.string().parse(await provider.send('eth_getCode', [escrow, 'latest']))
  const deadline = Math.floor(Date.now() / 1_000) + LIFETIME_SECONDS
  // Of an opening amount, deadline and commit; of a settlement amount, asset and payout.
  const data = [1, deadline, 1].map((value) => toBeHex(value, WORD_BYTES))
  for (const name of EVENTS) {
    const event = escrowInterface.getEvent(name)
    if (event === null) throw new Error(`the escrow has no ${name}`)
    const indexed = event.inputs.filter((input) => input.indexed).length
    await provider.send('anvil_setCode', [escrow, emitterOf(indexed)])
    for (let at = 0; at < orderIds.length; at += PER_BLOCK) {
      const account = toBeHex(from, WORD_BYTES)
      const input = concat([event.topicHash, account, ...data, ...orderIds.slice(at, at + PER_BLOCK)])
      const gas = toQuantity(GAS_LIMIT)
      const hash = await provider.send('eth_sendTransaction', [{ from, to: escrow, data: input, gas }])
      await provider.send('evm_mine', [])
      const receipt = await provider.getTransactionReceipt(z.string().parse(hash))
      if (receipt?.status !== 1) throw new Error('the events were not emitted')
    }
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
