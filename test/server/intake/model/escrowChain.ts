import { Interface, toQuantity } from 'ethers'
import { z } from 'zod'
import type { EscrowedOrder, OrderEscrow } from '../../../../src/chain/contracts.js'
import { orderEscrowAbi } from '../../../../src/chain/generated/orderEscrowAbi.js'
import type { Rpc, RpcAnswer, RpcCall } from '../../../../src/chain/rpc.js'
import { ZERO_ADDRESS } from '../../../../src/protocol/address.js'
import { type Hex, ZERO_BYTES32 } from '../../../../src/protocol/hex.js'
import { bytes32 } from '../../../support/institution.js'

/** The escrow and its events as a node tells them, without a node: thousands of chains in seconds. */
export interface EscrowChain {
  readonly escrow: OrderEscrow
  readonly rpc: Pick<Rpc, 'send'>
  open(orderId: Hex, account: Hex, commit: Hex): void
  /** Ends an open one. */
  end(orderId: Hex, state: 'SETTLED' | 'REFUNDED'): void
  stateOf(orderId: Hex): EscrowedOrder['state']
}

interface Log {
  readonly topics: readonly string[]
  readonly data: string
}

const ADDRESS: Hex = `0x${'22'.repeat(20)}`
const abi = new Interface(orderEscrowAbi)
const blockParams = z.tuple([z.string(), z.boolean()])
const logParams = z.tuple([z.object({ fromBlock: z.string(), toBlock: z.string() })])
const NOTHING: EscrowedOrder = {
  account: ZERO_ADDRESS,
  amount: 0n,
  deadline: 0,
  commit: ZERO_BYTES32,
  orgId: ZERO_BYTES32,
  state: 'NONE',
  symbol: ZERO_BYTES32,
  shares: 0n,
}

/** @param now Unix milliseconds */
export function createEscrowChain(now: () => number): EscrowChain {
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
  const none = async () => 0
  const noMoney = async () => 0n
  return {
    rpc: { send: async (calls) => calls.map(answer) },
    escrow: {
      address: ADDRESS,
      orders: async (orderId) => orders.get(orderId) ?? NOTHING,
      openOrders: none,
      openOrdersOf: none,
      openOrdersBy: none,
      escrowed: noMoney,
      claims: noMoney,
      claimed: noMoney,
      takenBy: async () => ZERO_ADDRESS,
      deployedAt: none,
      authority: async () => ZERO_ADDRESS,
      usdc: async () => ZERO_ADDRESS,
      usedDigest: async () => false,
    },
    stateOf: (orderId) => orders.get(orderId)?.state ?? 'NONE',
    open(orderId, account, commit) {
      const deadline = Math.floor(now() / 1_000) + 86_400
      orders.set(orderId, { ...NOTHING, account, commit, deadline, state: 'OPEN' })
      mine(event('OrderOpened', [orderId, account, 0n, deadline, commit]))
    },
    end(orderId, state) {
      orders.set(orderId, { ...(orders.get(orderId) ?? NOTHING), state })
      const account = orders.get(orderId)?.account
      mine(
        event(
          state === 'SETTLED' ? 'OrderSettled' : 'OrderRefunded',
          endedArguments(state, orderId, account),
        ),
      )
    },
  }
}

function endedArguments(state: string, orderId: Hex, account: Hex | undefined): unknown[] {
  const event = abi.getEvent(state === 'SETTLED' ? 'OrderSettled' : 'OrderRefunded')
  return (event?.inputs ?? []).map(({ name, type }) => {
    if (name === 'orderId') return orderId
    if (type === 'address') return account
    return type === 'bytes32' ? ZERO_BYTES32 : 0n
  })
}
