import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeAuthorizationCall } from '../../src/chain/authorizationCall.js'
import {
  calledAuthorization,
  type EndingType,
  forwardedAuthorizations,
  isReclaim,
  portfolioWrites,
  type WriteType,
} from '../../src/chain/calledAuthorization.js'
import { bytesToHex, type Hex } from '../../src/protocol/hex.js'
import { anyAuthorization } from '../support/authorizationArbitrary.js'
import { grantedOrder, refund } from '../support/authorizations.js'
import { INTERFACES } from '../support/chain.js'
import { bytes32 } from '../support/institution.js'

/** A signature that the schema takes: 65 bytes, low s, `v` 27. */
const SIGNATURE = bytesToHex(new Uint8Array([...new Array(64).fill(1), 27]))
/** A signature of 65 bytes is padded to three words. */
const PADDING_BYTES = 31
const ENDINGS: readonly EndingType[] = ['OrderSettlement', 'OrderRefund']
const WRITES: readonly WriteType[] = [...ENDINGS, 'PortfolioUpdate']

const anySigned = anyAuthorization.map((authorization) => ({ ...authorization, signature: SIGNATURE }))
const anyEnding = anySigned.filter(({ primaryType }) => ENDINGS.some((type) => type === primaryType))
const anyBytes = (maxLength: number) =>
  fc.uint8Array({ maxLength }).map((bytes) => bytesToHex(bytes).slice(2))
const whole = encodeAuthorizationCall({
  ...refund(grantedOrder(`0x${'0a'.repeat(20)}`)),
  signature: SIGNATURE,
})

test('a call gives back the authorization that it was made of, with its padding or without', () => {
  fc.assert(
    fc.property(anySigned, fc.integer({ min: 0, max: PADDING_BYTES }), (signed, cut) => {
      const call = encodeAuthorizationCall(signed)
      const sent: Hex = `0x${call.slice(2, call.length - 2 * cut)}`
      for (const type of WRITES) {
        expect(calledAuthorization(type, sent)).toEqual(type === signed.primaryType ? signed : null)
      }
    }),
    { numRuns: 200 },
  )
})

test('a hostile call gives none, or what it says, and never throws', () => {
  const words = Math.floor((whole.length - 10) / 64)
  const hostile = fc.oneof(
    fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
    fc.nat(4_096).map(BigInt),
    fc.constant(2n ** 96n),
  )
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(words - 1), hostile), { maxLength: 4 }),
      anyBytes(300),
      (changes, rest) => {
        let digits = whole.slice(10)
        for (const [at, value] of changes) {
          const word = value.toString(16).padStart(64, '0')
          digits = digits.slice(0, 64 * at) + word + digits.slice(64 * (at + 1))
        }
        for (const data of [whole.slice(2, 10) + digits, whole.slice(2, 10) + rest, rest]) {
          const found = calledAuthorization('OrderRefund', `0x${data}`)
          if (found !== null) expect(found).toMatchObject({ primaryType: 'OrderRefund' })
        }
      },
    ),
    { numRuns: 500 },
  )
})

test('a call that another contract forwards is found in its calldata, for its order alone', () => {
  fc.assert(
    fc.property(anyEnding, anyBytes(100), anyBytes(100), (signed, before, after) => {
      if (!('orderId' in signed.message)) return
      const { orderId } = signed.message
      const data: Hex = `0x${before}${encodeAuthorizationCall(signed).slice(2)}${after}`
      for (const type of ENDINGS) {
        const expected = type === signed.primaryType ? [signed] : []
        expect(forwardedAuthorizations(type, orderId, data)).toEqual(expected)
        expect(forwardedAuthorizations(type, bytes32('another'), data)).toEqual([])
      }
    }),
    { numRuns: 200 },
  )
})

test('each version of a portfolio is found in calldata: in a call itself and in one that is forwarded, for its accounts alone', () => {
  const accountsOf = ({ message }: typeof anySigned extends fc.Arbitrary<infer S> ? S : never) => {
    if ('from' in message) return [message.from, message.to]
    return 'account' in message ? [message.account] : []
  }
  fc.assert(
    fc.property(anySigned, anyBytes(100), anyBytes(100), (signed, before, after) => {
      const { message } = signed
      const call = encodeAuthorizationCall(signed).slice(2)
      for (const account of accountsOf(signed)) {
        const isNew = 'to' in message && account === message.to
        const version = isNew ? message.toVersion : 'version' in message && message.version
        const userBlob = isNew ? message.toUserBlob : 'userBlob' in message && message.userBlob
        const expected = { signed, version, userBlob }
        expect(portfolioWrites(account, `0x${call}`)).toMatchObject([{ ...expected, isDirect: true }])
        const forwarded: Hex = `0x00${before}${call}${after}`
        expect(portfolioWrites(account, forwarded)).toMatchObject([{ ...expected, isDirect: false }])
      }
      expect(portfolioWrites(`0x${'0a'.repeat(20)}`, `0x${call}`)).toEqual([])
    }),
    { numRuns: 200 },
  )
})

test('the first sixteen of a crowd of forwarded calls are looked at', () => {
  const { orderId } = grantedOrder(`0x${'0a'.repeat(20)}`)
  const crowd: Hex = `0x${whole.slice(2).repeat(40)}`
  expect(forwardedAuthorizations('OrderRefund', orderId, crowd)).toHaveLength(16)
})

test('a reclaim is known by its own call', () => {
  const orderId = bytes32('x')
  const call: Hex = `0x${INTERFACES.escrow.encodeFunctionData('reclaim', [orderId]).slice(2)}`
  const forwarded: Hex = `0x00ff${call.slice(2)}00`
  expect(isReclaim(orderId, call, false)).toBe(true)
  expect(isReclaim(bytes32('y'), call, false)).toBe(false)
  expect(isReclaim(orderId, whole, false)).toBe(false)
  expect(isReclaim(orderId, forwarded, false)).toBe(false)
  expect(isReclaim(orderId, forwarded, true)).toBe(true)
  expect(isReclaim(orderId, `0x0${call.slice(2)}0`, true)).toBe(false)
})
