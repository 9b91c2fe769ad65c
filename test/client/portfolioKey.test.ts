import { signAsync } from '@noble/secp256k1'
import { AbstractSigner, hashMessage, type JsonRpcProvider, Wallet } from 'ethers'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { derivePortfolioKey } from '../../src/client/portfolioKey.js'
import { createWallet } from '../../src/client/wallet.js'
import { bytesToHex, hexOf, hexToBytes } from '../../src/protocol/hex.js'
import { CURVE_ORDER } from '../../src/protocol/signature.js'
import { useChain } from '../support/chain.js'
import { readVectors } from '../support/vectors.js'

const vector = readVectors(
  'keys',
  z.object({
    walletPrivateKey: hexOf(32),
    account: hexOf(20),
    portfolioPrivateKey: hexOf(32),
    portfolioPublicKey: hexOf(33),
  }),
)
const chain = useChain()

/** The vector's wallet, whose signatures go through `change` on their way out. */
class OddWallet extends AbstractSigner<JsonRpcProvider> {
  readonly #wallet = new Wallet(vector.walletPrivateKey)
  asked = 0

  constructor(
    provider: JsonRpcProvider,
    readonly change: (signature: string, asked: number) => string | Promise<string>,
  ) {
    super(provider)
  }

  override getAddress = () => this.#wallet.getAddress()
  override connect = () => this
  override signTransaction = () => Promise.reject(new Error('not asked for'))
  override signTypedData = () => Promise.reject(new Error('not asked for'))
  override async signMessage(text: string) {
    this.asked += 1
    return this.change(await this.#wallet.signMessage(text), this.asked)
  }
}

function derive(change: OddWallet['change'] = (signature) => signature) {
  const signer = new OddWallet(chain().provider, change)
  return { signer, key: derivePortfolioKey(createWallet(signer, { miningTimeoutMs: 0 })) }
}

/** The same signature with s in the upper half and v counted from 0, as some wallets give it. */
function mirrored(signature: string): string {
  const s = CURVE_ORDER - BigInt(`0x${signature.slice(66, 130)}`)
  return `${signature.slice(0, 66)}${s.toString(16).padStart(64, '0')}${signature.endsWith('1b') ? '01' : '00'}`
}

/** A valid signature of the text with fresh entropy in its nonce (RFC 6979, 3.6). */
async function signedAtRandom(): Promise<string> {
  const digest = hexToBytes(hashMessage('Service portfolio key v1'))
  const options = { prehash: false, extraEntropy: true, format: 'recovered' } as const
  const [recovery = 0, ...rs] = await signAsync(digest, hexToBytes(vector.walletPrivateKey), options)
  return bytesToHex(Uint8Array.of(...rs, 27 + recovery))
}

it('the portfolio key is the wallet’s own, from two equal signatures', async () => {
  const { signer, key } = derive()
  const { privateKey, publicKey } = await key
  expect(bytesToHex(privateKey)).toBe(vector.portfolioPrivateKey)
  expect(publicKey).toBe(vector.portfolioPublicKey)
  expect(signer.asked).toBe(2)
})

it('the portfolio key is the same when the wallet writes its signature otherwise', async () => {
  const { key } = derive((signature, asked) => (asked === 2 ? mirrored(signature) : signature))
  expect((await key).publicKey).toBe(vector.portfolioPublicKey)
})

it('the portfolio key is refused to a wallet that signs differently each time', async () => {
  const { key } = derive(signedAtRandom)
  await expect(key).rejects.toMatchObject({ code: 'wallet-not-deterministic' })
})

it('the portfolio key is refused to a wallet that signs by another key', async () => {
  const { key } = derive(() => new Wallet(`0x${'77'.repeat(32)}`).signMessage('Service portfolio key v1'))
  await expect(key).rejects.toMatchObject({ code: 'signature-invalid' })
})

it('the portfolio key is refused to a contract wallet before it is asked', async () => {
  await chain().provider.send('anvil_setCode', [vector.account, '0x6001600055'])
  const { signer, key } = derive()
  await expect(key).rejects.toMatchObject({ code: 'contract-wallet' })
  expect(signer.asked).toBe(0)
})

it('the portfolio key is given to an account that delegates (EIP-7702): it signs with its own key', async () => {
  await chain().provider.send('anvil_setCode', [vector.account, `0xef0100${'ab'.repeat(20)}`])
  expect((await derive().key).publicKey).toBe(vector.portfolioPublicKey)
})

it('the portfolio key needs a provider', () => {
  expect(() => createWallet(new Wallet(vector.walletPrivateKey), { miningTimeoutMs: 0 })).toThrow(
    expect.objectContaining({ code: 'no-provider' }),
  )
})
