import { Wallet } from 'ethers'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type OrderRequest, sealOrder, wireOf } from '../../src/client/orderIntent.js'
import { createWallet } from '../../src/client/wallet.js'
import { commitOf, ORDER_PLACE, open } from '../../src/protocol/envelope.js'
import { orderEnvelopeSchema } from '../../src/protocol/envelopeForm.js'
import { type Hex, hexToBytes } from '../../src/protocol/hex.js'
import { intentDigest, intentSchema } from '../../src/protocol/intent.js'
import { publicKeyOf } from '../../src/protocol/publicKey.js'
import { recoverAddress } from '../../src/protocol/signature.js'
import { useChain } from '../support/chain.js'
import { INTENT_PRIVATE_KEY, INTENT_PUBLIC_KEY, ORG_ID, walletOf } from './clientSetting.js'

const chain = useChain()
const userPubKey = publicKeyOf(hexToBytes(`0x${'33'.repeat(32)}`))
const NOW = 1_800_000_000
const zero: Hex = `0x${'00'.repeat(20)}`

function deps(signer: Wallet = walletOf(chain(), 'alice')) {
  const others = { usdc: zero, ledger: zero, registry: zero, token: zero, actions: zero }
  const platform = {
    ...{ enclavePublicKey: INTENT_PUBLIC_KEY, chainId: chain().anvil.chainId, takesOpenings: true },
    ...{ escrow: chain().addressOf('escrow'), ...others },
  }
  const wallet = createWallet(signer, { miningTimeoutMs: 0 })
  return { wallet, platform, userPubKey, orgId: ORG_ID, nonce: 5, now: NOW }
}

const buy = { side: 'BUY', symbol: 'AAPL', usdc: 1_000_000n, deadline: 1_900_000_000 } as const

/** Alice's wallet, whose signatures go through `change` on their way out. */
class OddWallet extends Wallet {
  constructor(readonly change: (signature: string) => string) {
    super(walletOf(chain(), 'alice').privateKey, chain().provider)
  }

  override async signTypedData(...typed: Parameters<Wallet['signTypedData']>) {
    return this.change(await super.signTypedData(...typed))
  }
}

const NONE = { symbol: undefined, usdc: undefined, shares: undefined, payFrom: undefined }

it('a sealed order opens for the enclave as the signed intent that was asked for', async () => {
  const [symbol, deadline] = [fc.constantFrom('AAPL', 'BRK.B', 'F'), fc.nat(4_000_000_000)]
  const amount = fc.bigInt({ min: 1n, max: (1n << 256n) - 1n })
  const move = fc.constantFrom('WITHDRAW', 'DEPOSIT')
  const requests = fc.oneof<fc.Arbitrary<OrderRequest>[]>(
    fc.record({
      ...{ side: fc.constant('BUY'), symbol, usdc: amount, deadline },
      payFrom: fc.constantFrom('wallet', 'cash', undefined),
    }),
    fc.record({ side: fc.constant('SELL'), symbol, usdc: amount, deadline }),
    fc.record({ side: move, symbol, shares: amount, deadline }),
    fc.record({ side: move, usdc: amount, deadline }),
  )
  await fc.assert(
    fc.asyncProperty(requests, async (request) => {
      const order = await sealOrder(request, deps())
      const envelope = orderEnvelopeSchema.parse(order.envelope)
      const intent = intentSchema.parse(await open(envelope, hexToBytes(INTENT_PRIVATE_KEY), ORDER_PLACE))
      expect(intent).toEqual(order.intent)
      const { side, deadline: expiry } = request
      const { symbol, usdc, shares, payFrom } = { ...NONE, ...request }
      const asked = { side, symbol: symbol ?? 'USDC', maxSpend: shares ?? usdc ?? 0n }
      expect(wireOf(request)).toEqual(asked)
      const account = chain().account('alice')
      expect(intent).toMatchObject({ v: 1, ...asked, expiry, nonce: 5, userPubKey, account })
      expect(intent.orderId).toBe(order.orderId)
      expect(recoverAddress(intentDigest(intent, deps().platform), intent.sig)).toBe(account)
      expect(order.commit).toBe(commitOf(envelope))
      const isPaid = (side === 'BUY' && payFrom !== 'cash') || (side === 'DEPOSIT' && symbol === undefined)
      expect(order.escrowed).toBe(isPaid ? asked.maxSpend : 0n)
    }),
    { numRuns: 30 },
  )
})

it('a sealed limit order has its price in the signed intent, and nowhere else', async () => {
  const limit = { price: 190_500_000n, timeInForce: 'GTD' } as const
  const order = await sealOrder({ ...buy, limit }, deps())
  const intent = intentSchema.parse(await open(order.envelope, hexToBytes(INTENT_PRIVATE_KEY), ORDER_PLACE))
  expect(intent).toMatchObject({ v: 2, limitPrice: limit.price, timeInForce: 'GTD' })
  expect(recoverAddress(intentDigest(intent, deps().platform), intent.sig)).toBe(chain().account('alice'))
  const market = await sealOrder(buy, deps())
  expect(order.envelope.ct.length).toBe(market.envelope.ct.length)
  expect(Object.keys(order)).toEqual(Object.keys(market))
})

it('a sealed order has its signature in the one accepted form, however the wallet writes it', async () => {
  const zeroBased = (signature: string) => signature.replace(/1([bc])$/, (_, v) => (v === 'b' ? '00' : '01'))
  const { intent } = await sealOrder(buy, deps(new OddWallet(zeroBased)))
  expect(['1b', '1c']).toContain(intent.sig.slice(-2))
  expect(recoverAddress(intentDigest(intent, deps().platform), intent.sig)).toBe(chain().account('alice'))
})

it.each([
  ['a day', {}, NOW + 86_400],
  ['minutes', { validFor: '90m' }, NOW + 5_400],
  ['hours', { validFor: '4h' }, NOW + 14_400],
  ['days', { validFor: '30d' }, NOW + 30 * 86_400],
  ['until its deadline', { deadline: NOW + 7 }, NOW + 7],
] as const)('a sealed order is good for %s', async (_, time, expiry) => {
  const { intent } = await sealOrder({ side: 'BUY', symbol: 'AAPL', usdc: 1n, ...time }, deps())
  expect(intent.expiry).toBe(expiry)
})

it('a sealed order is not made of a signature that is not the account’s', async () => {
  const changed = new OddWallet((signature) =>
    signature.replace(/^0x./, (start) => (start === '0x1' ? '0x2' : '0x1')),
  )
  await expect(sealOrder(buy, deps(changed))).rejects.toMatchObject({ code: 'signature-invalid' })
})
