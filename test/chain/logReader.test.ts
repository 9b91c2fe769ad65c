import { expect, it } from 'vitest'
import { firstBlockSince } from '../../src/chain/blockTimes.js'
import { ChainAnswerError, ChainUnavailableError, RangeRefusedError } from '../../src/chain/errors.js'
import {
  addressIn,
  createPieceReader,
  createRangeSize,
  hexOf,
  logRequest,
  numberIn,
  numberOf,
  wordAt,
  wordOf,
} from '../../src/chain/logReader.js'
import type { RpcAnswer } from '../../src/chain/rpc.js'

const word = (digits: string) => digits.padStart(64, '0')
const account = '5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'

it('the fields of a log are read whatever their case', () => {
  expect(wordOf(`0x${'AB'.repeat(32)}`)).toBe(`0x${'ab'.repeat(32)}`)
  expect(hexOf('0x0aFF')).toBe('0x0aff')
  expect(numberOf('0x1F')).toBe(31)
  const data = `0x${word('1')}${word('ff')}`
  expect(wordAt(data, 1)).toBe(`0x${word('ff')}`)
  expect(numberIn(wordAt(data, 1))).toBe(255)
  expect(addressIn(`0x${word(account.toLowerCase())}`)).toBe(`0x${account}`)
})

it.each([
  ['a word that is too short', () => wordOf('0xab')],
  ['a word that is no hex', () => wordOf(`0x${'zz'.repeat(32)}`)],
  ['half a byte', () => hexOf('0xabc')],
  ['a number without digits', () => numberOf('0x')],
  ['a number that JavaScript does not hold', () => numberOf(`0x1${'0'.repeat(13)}`)],
  ['a word that the data do not have', () => wordAt(`0x${word('1')}`, 1)],
  ['a word with more than an address', () => addressIn(`0x${'1'.repeat(64)}`)],
  ['a word with more than a time', () => numberIn(`0x1${word('1').slice(1)}`)],
])('a log with %s is refused', (_, read) => {
  expect(read).toThrow(ChainAnswerError)
})

const address = `0x${'a'.repeat(40)}` as const
const hashOf = (number: number): `0x${string}` => `0x${word(number.toString(16))}`
const blockOf = (number: number) => ({
  result: { number: `0x${number.toString(16)}`, hash: hashOf(number), timestamp: '0x1' },
})
const log = {
  address: `0x${'A'.repeat(40)}`,
  topics: [hashOf(77), hashOf(78)],
  data: '0x0AFF',
  blockNumber: '0x5',
  blockHash: hashOf(5),
  logIndex: '0x0',
  transactionHash: hashOf(79),
  blockTimestamp: '0x64',
}

const answeredBy = (answer: RpcAnswer) =>
  logRequest([{ address, topics: [] }], { from: 5, to: 9 }).read([blockOf(9), answer, blockOf(4)])
const read = (logs: unknown) => answeredBy({ result: logs })

it('the answer of a query is read field by field, also where one log repeats those of another', () => {
  const { blockTimestamp: _, ...untimed } = log
  const other = { ...untimed, blockNumber: '0x6', blockHash: hashOf(6), topics: [hashOf(80)] }
  const logs = read([log, { ...log, logIndex: '0x1' }, other])?.logs
  const common = { address, data: '0x0aff', txHash: hashOf(79) }
  const first = { ...common, topics: log.topics, blockNumber: 5, blockHash: hashOf(5), blockTimestamp: 100 }
  expect(logs).toEqual([
    { ...first, logIndex: 0 },
    { ...first, logIndex: 1 },
    { ...common, topics: [hashOf(80)], blockNumber: 6, blockHash: hashOf(6), logIndex: 0 },
  ])
})

it.each<[string, unknown]>([
  ['that is no list', { logs: [] }],
  ['with a log that is none', [null]],
  ...Object.keys(log).flatMap((name): [string, unknown][] => [
    [`with null as ${name}`, [{ ...log, [name]: null }]],
    [`with a number as ${name}`, [{ ...log, [name]: 5 }]],
  ]),
  ['with a log without topics', [{ ...log, topics: [] }]],
  ['with a log of five topics', [{ ...log, topics: Array(5).fill(hashOf(1)) }]],
  ['with more data than our events have', [{ ...log, data: `0x${'ab'.repeat(65_537)}` }]],
  ['with a later log that is malformed', [log, { ...log, logIndex: '0x1', blockHash: '0x5' }]],
  ["with another contract's log", [{ ...log, address: `0x${'b'.repeat(40)}` }]],
  ['with a log of another block', [{ ...log, blockNumber: '0x4' }]],
])('an answer %s is refused', (_, logs) => {
  expect(() => read(logs)).toThrow(ChainAnswerError)
})

it('a range is halved down to one block, and grows again after some that were answered', () => {
  const size = createRangeSize(100)
  const whole = () => size.part({ from: 1, to: 1_000 })
  const refusals = Array.from({ length: 8 }, () => [size.refused(whole()), whole().to])
  expect(refusals.map(([isShorter]) => isShorter)).toEqual([true, true, true, true, true, true, false, false])
  expect(refusals.map(([, blocks]) => blocks)).toEqual([50, 25, 12, 6, 3, 1, 1, 1])
  const sizes = Array.from({ length: 64 }, () => {
    size.answered(whole())
    return whole().to
  })
  expect([7, 8, 16, 24, 48, 56, 64].map((count) => sizes[count - 1])).toEqual([1, 2, 4, 8, 64, 100, 100])
  // Answers before a refusal do not count after it.
  size.refused(whole())
  size.answered(whole())
  expect(size.part({ from: 1, to: 1_000 }, { backwards: true })).toEqual({ from: 951, to: 1_000 })
})

/** Reads by ranges of a hundred blocks, and notes how long each was that was asked for. */
function readingBy(answer: (range: { from: number; to: number }, asked: readonly number[]) => object) {
  const asked: number[] = []
  const { readPiece } = createPieceReader(100, async (range) => {
    asked.push(range.to - range.from + 1)
    return answer(range, asked)
  })
  return { asked, readPiece }
}

it('a long range is read in pieces that the node takes, and is an error when it gives not even one block', async () => {
  const { asked, readPiece } = readingBy((_, { length }) => {
    if (length !== 3) throw new RangeRefusedError('too many blocks')
    return {}
  })
  expect(await readPiece({ from: 1, to: 200 })).toEqual({ from: 1, to: 25 })
  await expect(readPiece({ from: 26, to: 200 })).rejects.toThrow(RangeRefusedError)
  expect(asked).toEqual([100, 50, 25, 25, 12, 6, 3, 1])
})

it('a node that is too slow for a range is asked for a shorter one the next time', async () => {
  const { asked, readPiece } = readingBy(({ from, to }) => {
    if (to - from >= 30) throw new ChainUnavailableError(1)
    return {}
  })
  for (let time = 0; time < 2; time++)
    await expect(readPiece({ from: 1, to: 200 })).rejects.toThrow(ChainUnavailableError)
  expect(await readPiece({ from: 1, to: 200 })).toEqual({ from: 1, to: 25 })
  expect(asked).toEqual([100, 50, 25])
})

it('the first block since a time is no block that the node no longer has', async () => {
  expect(await firstBlockSince(async (block) => (block < 700 ? undefined : block), 5, 1_000)).toBe(700)
})

it('a query that is refused for its rate is not taken for one of too many blocks', () => {
  const refused = (code: number) => () => answeredBy({ error: { code, message: 'slow down' } })
  expect(refused(429)).toThrow(ChainUnavailableError)
  expect(refused(-32_005)).toThrow(RangeRefusedError)
})
