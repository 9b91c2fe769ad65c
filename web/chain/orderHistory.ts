import { type Provider, zeroPadValue } from 'ethers'
import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'
import type { Hex } from '../../src/client/index.js'
import { bytes32Schema } from '../../src/protocol/hex.js'
import type { Settings } from '../settings.js'
import type { Ask } from '../state/query.js'
import { createLogTail, type LogsSoFar, topicOf } from './logs.js'

/** An account's orders, from the escrows that it opened on the chain. */
export interface OrderHistory {
  /** Newest first. */
  readonly ids: readonly Hex[]
  /** Whether all earlier orders have been read. */
  readonly complete: boolean
}

const OPENED = topicOf(orderEscrowAbi, 'OrderOpened')

/** Reads the account's orders, newest first; each read requests only new or unread blocks. */
export function createOrderHistory(
  provider: Provider,
  { pins, chain }: Settings,
  account: Hex,
): Ask<OrderHistory> {
  const look = createLogTail(provider, {
    address: pins.escrow,
    // The event's indexed fields are the order's id and its account.
    topics: [OPENED, null, zeroPadValue(account, 32)],
    fromBlock: chain.firstBlock,
  })
  return async (signal, report) =>
    historyOf(await look({ signal, onPart: (soFar) => report(historyOf(soFar)) }))
}

function historyOf({ logs, complete }: LogsSoFar): OrderHistory {
  return { ids: logs.map(({ topics }) => bytes32Schema.parse(topics[1])).reverse(), complete }
}
