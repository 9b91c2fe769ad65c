import { Interface, toQuantity } from 'ethers'
import * as z from 'zod'
import { createOrderEscrow, type EscrowedOrder, type OrderEscrow } from '../../../../src/chain/contracts.js'
import { orderEscrowAbi } from '../../../../src/chain/generated/orderEscrowAbi.js'
import type { Rpc, RpcAnswer, RpcCall } from '../../../../src/chain/rpc.js'
import { createViewCaller } from '../../../../src/chain/views.js'
import { type Hex, ZERO_BYTES32 } from '../../../../src/protocol/hex.js'
import { bytes32 } from '../../../support/institution.js'
import { UNOPENED } from '../../../support/orderEnds.js'

export type EscrowChain = ReturnType<typeof createEscrowChain>

interface Log {
  readonly topics: readonly string[]
  readonly data: string
}

const ADDRESS: Hex = `0x${'22'.repeat(20)}`
const abi = new Interface(orderEscrowAbi)
const blockParams = z.tuple([z.string(), z.boolean()])
const logParams = z.tuple([z.object({ fromBlock: z.string(), toBlock: z.string() })])

/**
 * The escrow and its events as a node tells them, without a node: thousands of chains in seconds.
 * @param now Unix milliseconds
 */
export function createEscrowChain(now: () => number) {
  const orders = new Map<Hex, EscrowedOrder>()
  const blocks: { readonly timestamp: number; readonly logs: readonly Log[] }[] = []
  const mine = (...logs: Log[]) => blocks.push({ timestamp: Math.floor(now() / 1_000), logs })
  mine()

  const event = (name: string, values: unknown[]): Log => abi.encodeEventLog(name, values)
  const hashOf = (number: number) => bytes32(`block ${number}`)
  function blockOf(number: number) {
    const block = blocks[number]
    return block === undefined
      ? null
      : { number: toQuantity(number), hash: hashOf(number), timestamp: toQuantity(block.timestamp) }
  }
  function logsOf(from: number, to: number) {
    return blocks.slice(from, to + 1).flatMap(({ logs }, index) =>
      logs.map((log, logIndex) => ({
        ...log,
        address: ADDRESS,
        blockNumber: toQuantity(from + index),
        blockHash: hashOf(from + index),
        logIndex: toQuantity(logIndex),
        transactionHash: bytes32(`transaction ${from + index}`),
      })),
    )
  }
  function answer({ method, params }: RpcCall): RpcAnswer {
    if (method === 'eth_getLogs') {
      const [{ fromBlock, toBlock }] = logParams.parse(params)
      return { result: logsOf(Number(fromBlock), Number(toBlock)) }
    }
    const [tag] = blockParams.parse(params)
    return { result: blockOf(tag === 'latest' ? blocks.length - 1 : Number(tag)) }
  }
  const rpc: Pick<Rpc, 'send'> = { send: async (calls) => calls.map(answer) }
  const escrow: OrderEscrow = {
    ...createOrderEscrow(createViewCaller(rpc), ADDRESS),
    orders: async (orderId) => orders.get(orderId) ?? UNOPENED,
  }
  return {
    rpc,
    escrow,
    stateOf: (orderId: Hex) => orders.get(orderId)?.state ?? 'NONE',
    open(orderId: Hex, account: Hex, commit: Hex) {
      const deadline = Math.floor(now() / 1_000) + 86_400
      orders.set(orderId, { ...UNOPENED, account, commit, deadline, state: 'OPEN' })
      mine(event('OrderOpened', [orderId, account, 0n, deadline, commit]))
    },
    /** Ends an open one by its settlement: nothing here refunds. */
    settle(orderId: Hex) {
      const order = orders.get(orderId) ?? UNOPENED
      orders.set(orderId, { ...order, state: 'SETTLED' })
      mine(event('OrderSettled', endedArguments(orderId, order.account)))
    },
  }
}

function endedArguments(orderId: Hex, account: Hex): unknown[] {
  return (abi.getEvent('OrderSettled')?.inputs ?? []).map(({ name, type }) => {
    if (name === 'orderId') return orderId
    if (type === 'address') return account
    return type === 'bytes32' ? ZERO_BYTES32 : 0n
  })
}
