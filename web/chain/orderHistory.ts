import { type Provider, zeroPadValue } from 'ethers'
import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'
import type { Hex } from '../../src/client/index.js'
import { bytes32Schema } from '../../src/protocol/hex.js'
import type { Settings } from '../settings.js'
import { createLogTail, type LogsSoFar, topicOf } from './logs.js'
import type { Ask } from './remembered.js'

/** An account's orders, as its escrows were opened on the chain. */
export interface OrderHistory {
  /** Newest first. */
  readonly ids: readonly Hex[]
  /** Whether there are no earlier ones. */
  readonly complete: boolean
}

const OPENED = topicOf(orderEscrowAbi, 'OrderOpened')

/** Reads the account's orders, the newest first; each time only what is new, or was not read yet. */
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
  return async (signal, tell) => historyOf(await look({ signal, onPart: (soFar) => tell(historyOf(soFar)) }))
}

function historyOf({ logs, complete }: LogsSoFar): OrderHistory {
  return { ids: logs.map(({ topics }) => bytes32Schema.parse(topics[1])).reverse(), complete }
}
