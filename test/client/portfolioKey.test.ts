import { Wallet } from 'ethers'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { derivePortfolioKey } from '../../src/client/portfolioKey.js'
import { createWallet } from '../../src/client/wallet.js'
import { bytesToHex, hexOf } from '../../src/protocol/hex.js'
import { CURVE_ORDER } from '../../src/protocol/signature.js'
import { useChain } from '../support/chain.js'
import { readVectors } from '../support/vectors.js'
import { signAtRandom } from './clientSetting.js'

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
class OddWallet extends Wallet {
  asked = 0

  constructor(readonly change: (signature: string, asked: number) => string | Promise<string>) {
    super(vector.walletPrivateKey, chain().provider)
  }

  override async signMessage(text: string) {
    this.asked += 1
    return this.change(await super.signMessage(text), this.asked)
  }
}

function derive(
  change: OddWallet['change'] = (signature) => signature,
  opens: Parameters<typeof derivePortfolioKey>[1] = async () => false,
) {
  const signer = new OddWallet(change)
  return { signer, key: derivePortfolioKey(createWallet(signer, { miningTimeoutMs: 0 }), opens) }
}

/** The same signature with s in the upper half and v counted from 0, as some wallets give it. */
function mirrored(signature: string): string {
  const s = CURVE_ORDER - BigInt(`0x${signature.slice(66, 130)}`)
  return `${signature.slice(0, 66)}${s.toString(16).padStart(64, '0')}${signature.endsWith('1b') ? '01' : '00'}`
}

it('the portfolio key is the wallet’s own, from two equal signatures', async () => {
  const { signer, key } = derive()
  const { privateKey, publicKey } = await key
  expect(bytesToHex(privateKey)).toBe(vector.portfolioPrivateKey)
  expect(publicKey).toBe(vector.portfolioPublicKey)
  expect(signer.asked).toBe(2)
})

it('the portfolio key is the wallet’s own, from one signature where it opens the portfolio', async () => {
  const opened: string[] = []
  const { signer, key } = derive(undefined, async ({ publicKey }) => {
    opened.push(publicKey)
    return true
  })
  expect((await key).publicKey).toBe(vector.portfolioPublicKey)
  expect([signer.asked, opened]).toEqual([1, [vector.portfolioPublicKey]])
})

it('the portfolio key is the same when the wallet writes its signature otherwise', async () => {
  const { key } = derive((signature, asked) => (asked === 2 ? mirrored(signature) : signature))
  expect((await key).publicKey).toBe(vector.portfolioPublicKey)
})

it('the portfolio key is refused to a wallet that signs differently each time', async () => {
  const { key } = derive(() => signAtRandom(vector.walletPrivateKey, 'Service portfolio key v1'))
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
