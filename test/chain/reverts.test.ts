import { AbiCoder, Interface } from 'ethers'
import { expect, test } from 'vitest'
import { decodeRevert } from '../../src/chain/reverts.js'

const reason = (length: number) =>
  `0x08c379a0${AbiCoder.defaultAbiCoder()
    .encode(['string'], ['x'.repeat(length)])
    .slice(2)}`

test('an error of our contracts has its own name and arguments', () => {
  const data = new Interface(['error BatchConflict(uint64 expected, uint64 got)']).encodeErrorResult(
    'BatchConflict',
    [1, 2],
  )
  expect(decodeRevert(data)).toEqual({ name: 'BatchConflict', args: { expected: '1', got: '2' } })
})

test('an argument is cut, and the data of an unknown error, however long it is', () => {
  expect(decodeRevert(reason(100)).args).toEqual({ '0': 'x'.repeat(100) })
  expect(decodeRevert(reason(5_000))).toEqual({ name: 'Error', args: { '0': 'x'.repeat(2_050) } })
  for (const bytes of [5_000, 500_000]) {
    const data = `0xdeadbeef${'ff'.repeat(bytes)}`
    expect(decodeRevert(data)).toEqual({ name: 'unknown', args: { data: data.slice(0, 2_050) } })
  }
  expect(decodeRevert(reason(500_000)).name).toBe('unknown')
})

test('data whose text is no UTF-8 is of an unknown error', () => {
  const data = reason(1).replace('78'.padEnd(64, '0'), 'ff'.padEnd(64, '0'))
  expect(decodeRevert(data)).toEqual({ name: 'unknown', args: { data } })
})
