import { randomBytes } from 'node:crypto'
import { Interface, type JsonRpcProvider, toQuantity } from 'ethers'
import { z } from 'zod'
import { waitForReceipt } from '../../src/chain/waitForReceipt.js'
import { bytesToHex, type Hex } from '../../src/protocol/hex.js'
import { compiledFixture } from '../../test/contracts/fixtures/compiled.js'

const GAS_LIMIT = 16_000_000

interface Emission {
  readonly escrow: Hex
  readonly from: Hex
  readonly method: 'open' | 'settle'
  readonly orderIds: readonly Hex[]
  /** Each block has one transaction with so many events. */
  readonly perBlock: number
}

export function newOrderIds(count: number): Hex[] {
  return Array.from({ length: count }, () => bytesToHex(randomBytes(32)))
}

/**
 * Has the escrow emit an event for each order, many in one transaction: a contract for that alone takes its place for
 * that time. Opening and settling as many would take hours.
 */
export async function emitOrders(provider: JsonRpcProvider, emission: Emission): Promise<void> {
  const { escrow, from, method, orderIds, perBlock } = emission
  const { abi, bytecode } = await compiledFixture('OrderEmitter')
  const emitter = new Interface(JSON.stringify(abi))
  const code = await provider.getCode(escrow)
  // A call that creates a contract returns the contract's code.
  await provider.send('anvil_setCode', [escrow, await provider.call({ data: `0x${bytecode}` })])
  for (let at = 0; at < orderIds.length; at += perBlock) {
    const data = emitter.encodeFunctionData(method, [orderIds.slice(at, at + perBlock)])
    const transaction = { from, to: escrow, data, gas: toQuantity(GAS_LIMIT) }
    const hash = z.string().parse(await provider.send('eth_sendTransaction', [transaction]))
    if ((await provider.getTransactionReceipt(hash)) === null) await provider.send('evm_mine', [])
    const receipt = await waitForReceipt(provider, hash)
    if (receipt?.status !== 1) throw new Error('events were not emitted')
  }
  await provider.send('anvil_setCode', [escrow, code])
}
