import { ChainUnavailableError } from '../../../src/chain/errors.js'
import type { BlockId } from '../../../src/chain/logReader.js'
import type { EscrowEvents } from '../../../src/server/escrow/escrowLogs.js'
import { bytes32 } from '../../support/institution.js'

/** A chain of blocks in memory, each with one event that has its name, of which a part can be replaced or not be read. */
export function createBlocks(length: number) {
  const hashes = Array.from({ length }, (_, number) => `old ${number}`)
  const reads: string[] = []
  const node = { fails: (_from: number) => false }
  const blockAt = (number: number): BlockId | null => {
    const name = hashes[number]
    return name === undefined ? null : { number, hash: bytes32(name) }
  }
  const events: EscrowEvents = {
    head: async () => blockAt(hashes.length - 1) ?? { number: 0, hash: '0x' },
    blockTime: async () => 0,
    async read({ from, to }) {
      if (node.fails(from)) throw new ChainUnavailableError(1)
      const last = blockAt(to)
      if (last === null) return undefined
      reads.push(`${from}-${to}`)
      const inRange = hashes.slice(from, to + 1).map((id, index) => {
        const position = { block: from + index, logIndex: 0 }
        return { kind: 'settled', id, position, orderId: bytes32(id), txHash: bytes32(id) } as const
      })
      return { events: inRange, parent: blockAt(from - 1), last }
    },
  }
  return { hashes, reads, node, events }
}
