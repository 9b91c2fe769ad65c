import { describe, expect, it } from 'vitest'
import { listedActionSchema, readActions } from '../../src/chain/actionList.js'
import { ChainAnswerError } from '../../src/chain/errors.js'
import { ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'

const removal = [5n, 1_700_000_000n, 0n, 0n, 0n, nameToBytes32('AAPL'), ZERO_BYTES32]

describe('the list of corporate actions', () => {
  it('is refused, and not asked for without end, where a node lists fewer than it counts', async () => {
    const listed = [listedActionSchema.parse(removal)]
    const list = async (from: number) => (from === 0 ? listed : [])
    await expect(readActions({ count: async () => 2, list })).rejects.toThrow(ChainAnswerError)
    expect(await readActions({ count: async () => 1, list })).toMatchObject([{ kind: 'REMOVAL', index: 0 }])
  })

  it('is refused with a kind that is not known, which no longer counts as a removal', () => {
    expect(listedActionSchema.safeParse(removal.with(0, 6n)).success).toBe(false)
  })
})
