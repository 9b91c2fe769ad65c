import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { signAuthorization } from '../../../src/protocol/authorization.js'
import {
  bytesToHex,
  bytesToUint,
  concatBytes,
  type Hex,
  hexToBytes,
  uintToBytes,
} from '../../../src/protocol/hex.js'
import { CURVE_ORDER } from '../../../src/protocol/signature.js'
import {
  batchBurn,
  batchMint,
  domainOf,
  grantedOrder,
  policyUpdate,
  refund,
  settlement,
} from '../../support/authorizations.js'
import { useChain } from '../../support/chain.js'
import { AAPL, bytes32, MSFT, ORG, setUpInstitution, shares } from '../../support/institution.js'
import { ENCLAVE_KEY } from '../../support/roles.js'
import { storedRows } from '../../support/storedRows.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { bodyOf, encodeBody, type RelayUnderTest, startRelay } from './relayUnderTest.js'

const chain = useChain(setUpInstitution)

let relay: RelayUnderTest
let dataDir: string
let balance: bigint
beforeEach(async () => {
  dataDir = await temporaryDirectory()
  relay = await startRelay({ chain: chain(), dataDir })
  balance = await chain().provider.getBalance(chain().account('relayer'))
})

/** No refusal spends gas or leaves a record. */
afterEach(async () => {
  expect(await chain().provider.getBalance(chain().account('relayer'))).toBe(balance)
  expect(storedRows(dataDir, 'relays')).toEqual([])
})

const valid = () => copied(bodyOf(chain(), batchMint(AAPL, shares(5))))

interface Body {
  primaryType: string
  message: Record<string, unknown>
  signature: Hex
}

function copied(body: object): Body {
  return JSON.parse(JSON.stringify(body))
}

function withMessage(change: Record<string, unknown>): object {
  const body = valid()
  return { ...body, message: { ...body.message, ...change } }
}

const text = (body: object) => JSON.stringify(body)

// test/server/openapi/contract.test.ts has media types, lengths, unknown digests and malformed ones.
describe('a body that is no authorization', () => {
  test.each<[what: string, body: () => string | object]>([
    ['empty', () => ''],
    ['an array', () => []],
    ['cut off', () => text(valid()).slice(0, -1)],
    ['with a repeated member', () => text(valid()).replace('{', '{"signature":"0x",')],
    ['with a member named __proto__', () => text(valid()).replace('{', '{"__proto__":{},')],
    ['with an unknown field', () => ({ ...valid(), nonce: 1 })],
    ['with an unknown field in its message', () => withMessage({ gas: '1' })],
    ['without a message', () => ({ ...valid(), message: undefined })],
    ['without a field of its message', () => withMessage({ batch: undefined })],
    ['of an unknown type', () => ({ ...valid(), primaryType: 'TreasuryTransfer' })],
    ['of a type named as an object member', () => ({ ...valid(), primaryType: 'constructor' })],
    ['of a type in another case', () => ({ ...valid(), primaryType: 'batchMint' })],
    ['with a number for an integer', () => withMessage({ amount: 5 })],
    ['with a negative integer', () => withMessage({ amount: '-5' })],
    ['with an integer in hex', () => withMessage({ amount: '0x5' })],
    ['with leading zeros', () => withMessage({ amount: '05' })],
    ['with an integer of 257 bits', () => withMessage({ amount: (2n ** 256n).toString() })],
    ['with a batch of 65 bits', () => withMessage({ batch: (2n ** 64n).toString() })],
    ['with 31 bytes for 32', () => withMessage({ symbol: AAPL.slice(0, -2) })],
    ['with 33 bytes for 32', () => withMessage({ symbol: `${AAPL}00` })],
    ['with half a byte', () => withMessage({ symbol: AAPL.slice(0, -1) })],
    ['with hex without 0x', () => withMessage({ symbol: AAPL.slice(2) })],
    [
      'with a signature of 64 bytes (EIP-2098)',
      () => ({ ...valid(), signature: valid().signature.slice(0, -2) }),
    ],
    ['with a signature of 66 bytes', () => ({ ...valid(), signature: `${valid().signature}00` })],
    ['with no signature', () => ({ ...valid(), signature: '0x' })],
  ])('%s is 400', async (_what, body) => {
    const response = await relay.post(body())
    expect([response.status, response.body.status]).toEqual([400, 400])
    expect(['malformed-json', 'invalid-body']).toContain(response.body.code)
  })
})

/** The same signature in another form that some libraries take for it. */
function reshaped(change: (parts: { r: Uint8Array; s: Uint8Array; v: number }) => Uint8Array[]): object {
  const body = valid()
  const bytes = hexToBytes(body.signature)
  const parts = { r: bytes.subarray(0, 32), s: bytes.subarray(32, 64), v: bytes[64] ?? 0 }
  return { ...body, signature: bytesToHex(concatBytes(...change(parts))) }
}

const byte = (value: number) => Uint8Array.of(value)
const ZERO = new Uint8Array(32)

describe('a signature', () => {
  test.each<[what: string, body: () => object]>([
    ['with v 0 or 1', () => reshaped(({ r, s, v }) => [r, s, byte(v - 27)])],
    ['with the v of EIP-155', () => reshaped(({ r, s, v }) => [r, s, byte(v + 8)])],
    ['with the other v', () => reshaped(({ r, s, v }) => [r, s, byte(55 - v)])],
    [
      'with a high s',
      () => reshaped(({ r, s, v }) => [r, uintToBytes(CURVE_ORDER - bytesToUint(s), 32), byte(55 - v)]),
    ],
    ['with r zero', () => reshaped(({ s, v }) => [ZERO, s, byte(v)])],
    ['with s zero', () => reshaped(({ r, v }) => [r, ZERO, byte(v)])],
    [
      'with r above the group order',
      () => reshaped(({ s, v }) => [new Uint8Array(32).fill(255), s, byte(v)]),
    ],
    ['with r and s exchanged', () => reshaped(({ r, s, v }) => [s, r, byte(v)])],
    ['of zeros', () => ({ ...valid(), signature: `0x${'00'.repeat(65)}` })],
    ['by another key', () => bodyOf(chain(), batchMint(AAPL, shares(5)), `0x${'0d'.repeat(32)}`)],
    ['over another symbol', () => withMessage({ symbol: MSFT })],
    ['over another amount', () => withMessage({ amount: '5000000001' })],
    ['over another supply', () => withMessage({ expectedSupply: '1' })],
    ['over another batch', () => withMessage({ batch: '2' })],
    ['over another type', () => ({ ...valid(), primaryType: 'BatchBurn' })],
    ['for another chain', () => signedFor({ chainId: 1 })],
    ['for another contract', () => signedFor({ verifyingContract: chain().addresses.orderEscrow })],
  ])('%s is 422 invalid-signature', async (_what, body) => {
    const response = await relay.post(body())
    expect([response.status, response.body.code]).toEqual([422, 'invalid-signature'])
  })
})

function signedFor(change: { chainId?: number; verifyingContract?: Hex }): object {
  const authorization = batchMint(AAPL, shares(5))
  const domain = { ...domainOf(chain(), 'BatchMint'), ...change }
  return encodeBody(signAuthorization(authorization, domain, ENCLAVE_KEY))
}

/** An order that the escrow does not have. */
const unknown = (name: string) => ({ ...grantedOrder(chain().account('dave')), orderId: bytes32(name) })

describe('an authorization that the contract would refuse', () => {
  test.each([
    [
      'an unknown order',
      () => settlement(unknown('no such order')),
      { name: 'OrderNotOpen', args: { orderId: bytes32('no such order'), state: '0' } },
    ],
    ['the same', () => refund(unknown('nor this')), { name: 'OrderNotOpen', args: expect.anything() }],
    [
      'another supply',
      () => batchMint(AAPL, shares(5), { expectedSupply: 7n }),
      { name: 'SupplyConflict', args: { expected: '0', got: '7' } },
    ],
    [
      'a batch too far',
      () => batchMint(AAPL, shares(5), { batch: 2n }),
      { name: 'BatchConflict', args: { expected: '1', got: '2' } },
    ],
    ['more than there is', () => batchBurn(AAPL, shares(5)), { name: 'PoolShort', args: expect.anything() }],
    [
      'a rulebook by another admin',
      () => policyUpdate(ORG, chain().account('alice')),
      { name: 'NotInstitutionAdmin', args: expect.objectContaining({ orgId: ORG }) },
    ],
  ])('(%s) is 422 would-revert with its error', async (_what, authorization, revert) => {
    const response = await relay.relay(authorization())
    expect([response.status, response.body.code]).toEqual([422, 'would-revert'])
    expect(response.body.revert).toEqual(revert)
  })
})
