// A chain with a long past, cheaply: events that a contract logs while its code is another one for a moment.
import { type JsonRpcProvider, toQuantity } from 'ethers'
import * as z from 'zod'
import { interfaces } from '../../src/chain/interfaces.js'
import { bytesToHex, type Hex, uintToBytes, ZERO_BYTES32 } from '../../src/protocol/hex.js'

interface LoggedEvent {
  readonly topics: readonly string[]
  readonly data: string
}

/** The contract, and an account that the node signs for. */
interface Place {
  readonly contract: Hex
  readonly from: Hex
}

interface Spread {
  readonly perBlock: number
  /** Between two blocks with events. */
  readonly emptyBlocks?: number
}

const GAS_LIMIT = toQuantity(16_000_000)
const WORD_BYTES = 32
const [PUSH1, PUSH32, MSTORE, LOG0] = ['60', '7f', '52', 0xa0]

/** Code that logs these events, whatever it is called with. */
function loggingCode(events: readonly LoggedEvent[]): string {
  const byte = (value: number) => value.toString(16).padStart(2, '0')
  const parts = events.flatMap(({ topics, data }) => {
    const words = data.slice(2).match(/.{64}/g) ?? []
    return [
      ...words.flatMap((word, index) => [PUSH32, word, PUSH1, byte(index * WORD_BYTES), MSTORE]),
      ...topics.toReversed().flatMap((topic) => [PUSH32, topic.slice(2)]),
      ...[PUSH1, byte(words.length * WORD_BYTES), PUSH1, '00', byte(LOG0 + topics.length)],
    ]
  })
  return `0x${parts.join('')}`
}

/** Has the contract log the events: causing as many would take hours. The platform must not be trading meanwhile. */
export async function logEvents(
  provider: JsonRpcProvider,
  { contract, from }: Place,
  events: readonly LoggedEvent[],
  { perBlock, emptyBlocks = 0 }: Spread,
): Promise<void> {
  const code = await provider.getCode(contract)
  const before = await provider.getBlockNumber()
  for (let at = 0; at < events.length; at += perBlock) {
    await provider.send('anvil_setCode', [contract, loggingCode(events.slice(at, at + perBlock))])
    await provider.send('eth_sendTransaction', [{ from, to: contract, gas: GAS_LIMIT }])
    await provider.send('anvil_mine', [toQuantity(1 + emptyBlocks)])
  }
  await provider.send('anvil_setCode', [contract, code])
  const asked = { address: contract, fromBlock: toQuantity(before + 1) }
  const found = z.array(z.unknown()).parse(await provider.send('eth_getLogs', [asked]))
  if (found.length !== events.length)
    throw new Error(`${found.length} of ${events.length} events were logged`)
}

/** An invitation and a joining of each. */
export function joinings(orgId: Hex, members: readonly Hex[]): LoggedEvent[] {
  return members.flatMap((member) =>
    [false, true].map((isActive) =>
      interfaces.institutionRegistry.encodeEventLog('MemberUpdated', [orgId, member, isActive]),
    ),
  )
}

/** By these accounts in turn. */
export function openings(orderIds: readonly Hex[], accounts: readonly Hex[]): LoggedEvent[] {
  const commit = bytesToHex(uintToBytes(1n, WORD_BYTES))
  return orderIds.map((id, at) => {
    const owner = accounts[at % accounts.length]
    return interfaces.orderEscrow.encodeEventLog('OrderOpened', [id, owner, 1, DEADLINE, commit])
  })
}

export function settlements(orderIds: readonly Hex[], account: Hex): LoggedEvent[] {
  return orderIds.map((id) =>
    interfaces.orderEscrow.encodeEventLog('OrderSettled', [id, account, 1, ZERO_BYTES32, 0]),
  )
}

/** In the year 2096. */
const DEADLINE = 4_000_000_000
