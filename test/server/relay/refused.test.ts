import { expect, test } from 'vitest'
import { signAuthorization } from '../../../src/protocol/authorization.js'
import type { Hex } from '../../../src/protocol/hex.js'
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
import { bodyOf, encodeBody, startRelay } from './relayUnderTest.js'

const chain = useChain(setUpInstitution)

const valid = (): { message: Record<string, unknown>; signature: Hex } =>
  JSON.parse(JSON.stringify(bodyOf(chain(), batchMint(AAPL, shares(5)))))

function withMessage(change: Record<string, unknown>): object {
  const body = valid()
  return { ...body, message: { ...body.message, ...change } }
}

/** Posts each body. No refusal spends gas or leaves a record. */
async function expectRefused(bodies: Record<string, string | object>, status: number, codes: string[]) {
  const relay = await startRelay({ chain: chain() })
  const balance = await chain().provider.getBalance(chain().account('relayer'))
  for (const [what, body] of Object.entries(bodies)) {
    const response = await relay.post(body)
    expect([what, response.status]).toEqual([what, status])
    expect(codes).toContain(response.body.code)
  }
  expect(await chain().provider.getBalance(chain().account('relayer'))).toBe(balance)
  expect(storedRows(relay.dataDir, 'relays')).toEqual([])
}

// test/server/openapi/contract.test.ts has media types, lengths, unknown digests and malformed ones.
test('a body that is no authorization is refused with 400', async () => {
  const text = JSON.stringify(valid())
  const bodies = {
    'a repeated member': text.replace('{', '{"signature":"0x",'),
    'an unknown field': { ...valid(), nonce: 1 },
    'an unknown field in its message': withMessage({ gas: '1' }),
    'a missing field of its message': withMessage({ batch: undefined }),
    'an unknown type': { ...valid(), primaryType: 'TreasuryTransfer' },
    'a number for an integer': withMessage({ amount: 5 }),
    'leading zeros': withMessage({ amount: '05' }),
    'an integer of 257 bits': withMessage({ amount: (2n ** 256n).toString() }),
    '31 bytes for 32': withMessage({ symbol: AAPL.slice(0, -2) }),
    'a signature of 64 bytes (EIP-2098)': { ...valid(), signature: valid().signature.slice(0, -2) },
  }
  await expectRefused(bodies, 400, ['malformed-json', 'invalid-body'])
})

function signedFor(change: { chainId?: number; verifyingContract?: Hex }): object {
  const domain = { ...domainOf(chain(), 'BatchMint'), ...change }
  return encodeBody(signAuthorization(batchMint(AAPL, shares(5)), domain, ENCLAVE_KEY))
}

// test/protocol/forms.test.ts has other forms of a signature, and test/protocol/signerCheck.test.ts those of other keys.
test('a signature that is not the enclave’s of this very authorization is refused with invalid-signature', async () => {
  const bodies = {
    'of zeros': { ...valid(), signature: `0x${'00'.repeat(65)}` },
    'over another symbol': withMessage({ symbol: MSFT }),
    'over another amount': withMessage({ amount: '5000000001' }),
    'over another supply': withMessage({ expectedSupply: '1' }),
    'over another batch': withMessage({ batch: '2' }),
    'over another type': { ...valid(), primaryType: 'BatchBurn' },
    'for another chain': signedFor({ chainId: 1 }),
    'for another contract': signedFor({ verifyingContract: chain().addresses.orderEscrow }),
  }
  await expectRefused(bodies, 422, ['invalid-signature'])
})

test('an authorization that the contract would refuse is refused with its error', async () => {
  const relay = await startRelay({ chain: chain() })
  const unknown = (name: string) => ({ ...grantedOrder(chain().account('dave')), orderId: bytes32(name) })
  const orderId = bytes32('no such order')
  for (const [authorization, revert] of [
    [settlement(unknown('no such order')), { name: 'OrderNotOpen', args: { orderId, state: '0' } }],
    [refund(unknown('nor this')), { name: 'OrderNotOpen' }],
    [
      batchMint(AAPL, shares(5), { expectedSupply: 7n }),
      { name: 'SupplyConflict', args: { expected: '0', got: '7' } },
    ],
    [batchBurn(AAPL, shares(5)), { name: 'PoolShort' }],
    [policyUpdate(ORG, chain().account('alice')), { name: 'NotInstitutionAdmin', args: { orgId: ORG } }],
  ] as const) {
    const { status, body } = await relay.relay(authorization)
    expect([status, body.code]).toEqual([422, 'would-revert'])
    expect(body.revert).toMatchObject(revert)
  }
  expect(storedRows(relay.dataDir, 'relays')).toEqual([])
})
