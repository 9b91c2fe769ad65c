import { expect, it } from 'vitest'
import * as z from 'zod'
import { signedAuthorizationSchema } from '../../src/protocol/authorization.js'
import { authorizationTargets } from '../../src/protocol/authorizationTypes.js'
import { accountIdOf } from '../../src/protocol/identifiers.js'
import { PRIMARY_TYPES } from '../../src/protocol/primaryTypes.js'
import { orderOf, portfolioUpdate, signedCall, structOf } from '../support/authorizations.js'
import { INTERFACES, useChain } from '../support/chain.js'
import { openRequest, setUpInstitution } from '../support/institution.js'
import { readVectors } from '../support/vectors.js'

const chain = useChain(setUpInstitution)
const KEYS = { ConfidentialLedger: 'ledger', OrderEscrow: 'escrow', PlatformPool: 'pool' } as const

const hex = z.templateLiteral(['0x', z.string()])
const { chainId, authorizations, portfolioHashes } = readVectors(
  'authorizations',
  z.object({
    chainId: z.int(),
    authorizations: z.array(z.looseObject({ verifyingContract: hex, digest: hex })),
    portfolioHashes: z.array(
      z.object({ previous: hex, version: z.coerce.bigint(), enclaveBlob: hex, userBlob: hex, hash: hex }),
    ),
  }),
)

it.each(PRIMARY_TYPES)('the contracts answer to the frozen digests of %s', async (primaryType) => {
  const frozen = authorizations.filter((each) => each.primaryType === primaryType)
  expect([frozen.length > 0, chain().anvil.chainId]).toEqual([true, chainId])
  for (const { verifyingContract, digest, ...wire } of frozen) {
    const authorization = signedAuthorizationSchema.parse(wire)
    const contract = KEYS[authorizationTargets[primaryType].contract]
    // The code looks up its own address, so that it is the vector's contract wherever it was deployed first.
    const code = await chain().provider.getCode(chain().addressOf(contract))
    await chain().provider.send('anvil_setCode', [verifyingContract, code])
    const data = INTERFACES[contract].encodeFunctionData(`hash${primaryType}`, [structOf(authorization)])
    expect(await chain().provider.call({ to: verifyingContract, data })).toBe(digest)
  }
})

const { order, buy, request } = readVectors(
  'opening',
  z.object({
    order: z.object({ account: hex, orderId: hex, commit: hex, deadline: z.int(), validBefore: z.int() }),
    buy: z.object({ nonce: hex, data: hex, amount: z.coerce.bigint(), sig: hex }),
    request: z.object({ digest: hex, data: hex, sig: hex }),
  }),
)

it('the escrow answers to the frozen openings of a request and of a buy', async () => {
  const { escrow } = readVectors('intents', z.object({ escrow: hex }))
  await chain().provider.send('anvil_setCode', [
    escrow,
    await chain().provider.getCode(chain().addressOf('escrow')),
  ])
  const { account, orderId, commit, deadline, validBefore } = order
  const encoded = (...call: Parameters<typeof INTERFACES.escrow.encodeFunctionData>) =>
    INTERFACES.escrow.encodeFunctionData(...call)
  const requested = [account, orderId, commit, deadline, validBefore]
  const data = encoded('hashRequestOpening', [requested])
  expect(await chain().provider.call({ to: escrow, data })).toBe(request.digest)
  expect(encoded('openRequestFor', [requested, request.sig])).toBe(request.data)
  expect(await chain().read('escrow', 'buyNonce', orderId, commit, deadline)).toBe(buy.nonce)
  const bought = [account, orderId, commit, buy.amount, deadline, validBefore]
  expect(encoded('openBuyFor', [bought, buy.sig])).toBe(buy.data)
})

it('the ledger’s running hash is the frozen one after each write', async () => {
  const order = await orderOf(chain(), await openRequest(chain(), 'alice', 'sale'))
  for (const { hash, ...write } of portfolioHashes) {
    await chain().send('relayer', ...signedCall(chain(), portfolioUpdate(order, write)))
    expect(await chain().read('ledger', 'portfolioHash', accountIdOf(chain().account('alice')))).toBe(hash)
  }
})
