import { type Provider, zeroPadValue } from 'ethers'
import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'
import type { Hex } from '../../src/client/index.js'
import { bytes32Schema } from '../../src/protocol/hex.js'
import type { Settings } from '../settings.js'
import { createLogTail, topicOf } from './logs.js'

const OPENED = topicOf(orderEscrowAbi, 'OrderOpened')

/** Reads the account's orders, newest first, as its escrows were opened on the chain; each time only what is new. */
export function createOrderHistory(
  provider: Provider,
  { pins, chain }: Settings,
  account: Hex,
): () => Promise<Hex[]> {
  const look = createLogTail(provider, {
    address: pins.escrow,
    // The event's indexed fields are the order's id and its account.
    topics: [OPENED, null, zeroPadValue(account, 32)],
    fromBlock: chain.firstBlock,
  })
  return async () => {
    const { logs } = await look()
    return logs.map(({ topics }) => bytes32Schema.parse(topics[1])).reverse()
  }
}
