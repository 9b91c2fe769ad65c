// The confidentiality test finds what it looks for: it would be worth nothing if it could not fail.
import { expect, it } from 'vitest'
import { amountCanary, findCanaries, keyCanary, textCanary } from './canaries.js'

const key = Buffer.from(Array.from({ length: 32 }, (_, index) => (index * 37 + 200) % 256))
const CANARIES = [
  keyCanary('key', key),
  textCanary('symbol', 'AMZN'),
  textCanary('token', 'a-token+of/the_test'),
  amountCanary('amount', 17_654_321_987n, 6),
]
const symbol32 = Buffer.from('AMZN'.padEnd(32, '\0'))
const amount32 = Buffer.from(17_654_321_987n.toString(16).padStart(64, '0'), 'hex')
const noise = (length: number) => Buffer.from(Array.from({ length }, (_, index) => (index * 7919) % 251))

it.each<[string, Buffer | string, string]>([
  ['its bytes', key, 'key'],
  ['hex', key.toString('hex'), 'key'],
  ['base64 with two bytes before it', Buffer.concat([noise(2), key, noise(4)]).toString('base64'), 'key'],
  ['text', 'it was AMZN that was sold', 'symbol'],
  ['hex of bytes32', symbol32.toString('hex'), 'symbol'],
  ['base64 of bytes32', symbol32.toString('base64'), 'symbol'],
  ['a number', '17654.321987 USDC', 'amount'],
  ['a number with separators', '17,654.321987 USDC', 'amount'],
  ['hex of uint256', amount32.toString('hex'), 'amount'],
  ['base64 of JSON', Buffer.from('{"v":"17654321987"}').toString('base64'), 'amount'],
])('the search finds a secret as %s: %j', (_form, planted, name) => {
  const content = Buffer.concat([noise(1_000), Buffer.from(planted), noise(1_000)])
  expect(findCanaries(content, CANARIES)).toEqual([name])
})
