import { EventFragment, Interface, toBeHex, zeroPadValue } from 'ethers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bytes32Schema, bytesToHex, hexBetween } from '../../../src/protocol/hex.js'
import { createWordReader } from '../../../src/server/narrator/events.js'

const FRAGMENT = EventFragment.from(
  'event Told(uint256 first, bytes32 indexed who, bytes32 asset, address indexed by, uint64 last)',
)
const TOLD = new Interface([FRAGMENT])
const read = createWordReader(FRAGMENT)

const word = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(bytesToHex)
const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(bytesToHex)
const values = fc.tuple(
  fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  word,
  word,
  address,
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
)

function logOf(given: readonly unknown[]) {
  const { topics, data } = TOLD.encodeEventLog(FRAGMENT, given)
  return { topics: topics.map((topic) => bytes32Schema.parse(topic)), data: hexBetween(0, 200).parse(data) }
}

describe('the words of a log', () => {
  test('are those that ethers reads, by name, whether they are topics or data', () => {
    fc.assert(
      fc.property(values, (given) => {
        const words = read(logOf(given))
        const [first, who, asset, by, last] = given
        const found = ['first', 'who', 'asset', 'by', 'last'].map((field) => words?.(field))
        expect(found).toEqual([first, BigInt(who), BigInt(asset), BigInt(by), last])
      }),
    )
  })

  test('of another event of the same signature are not read', () => {
    const { topics, data } = logOf([1n, toBeHex(2n, 32), toBeHex(3n, 32), zeroPadValue('0x04', 20), 5n])
    expect(read({ topics: topics.slice(1), data })).toBeNull()
    expect(read({ topics: [...topics, ...topics.slice(1)], data })).toBeNull()
    expect(read({ topics, data: '0x' })).toBeNull()
    expect(read({ topics, data: bytes32Schema.parse(data.slice(0, 66)) })).toBeNull()
  })
})
