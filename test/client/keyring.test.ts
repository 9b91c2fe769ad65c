import { readFile } from 'node:fs/promises'
import { Wallet } from 'ethers'
import { expect, it } from 'vitest'
import type { Client } from '../../src/client/index.js'
import { bytesToHex, type Hex } from '../../src/protocol/hex.js'
import { sealNotice } from '../../src/protocol/notice.js'
import { PORTFOLIO_KEY_MESSAGE } from '../../src/protocol/portfolioKey.js'
import { CURVE_ORDER } from '../../src/protocol/signature.js'
import { useApi } from '../support/apiStandIn.js'
import { useChain } from '../support/chain.js'
import keyVectors from '../vectors/keys.json' with { type: 'json' }
import { answerAsServer, clearForTrading, clientOf, signAtRandom, walletOf } from './clientSetting.js'
import { emptyOf, idOf, openRequest, publicKey, write as writePortfolio } from './history/written.js'

const chain = useChain(clearForTrading)
const api = await useApi()

/** Alice's client on one of her devices, and how often her wallet was asked to sign a text there. */
function device() {
  answerAsServer(api, chain())
  const signer = walletOf(chain(), 'alice')
  const counted = { asked: 0 }
  let sign = (text: string) => walletOf(chain(), 'alice').signMessage(text)
  signer.signMessage = (text) => {
    counted.asked += 1
    return sign(String(text))
  }
  const signTextBy = (other: typeof sign) => {
    sign = other
  }
  return Object.assign(clientOf(chain(), api, 'alice', { wallet: signer }), { counted, signTextBy })
}

/** A key of nobody here. */
const ANOTHER_KEY = publicKey(`0x${'77'.repeat(32)}`)

const read = (text: string): { account: string; keys: { privateKey: string }[] } => JSON.parse(text)

/** Writes a portfolio under the key, as the enclave does for a new order. */
async function write(userPubKey: Hex, number: number, nonce = number): Promise<void> {
  await openRequest(chain(), idOf(number))
  await writePortfolio(chain(), {
    does: 'update',
    orderId: idOf(number),
    portfolio: { ...emptyOf(), userPubKey, nonce },
  })
}

async function sell(client: Client) {
  const deadline = (await chain().now()) + 60
  const { order } = await client.placeOrder({ side: 'SELL', symbol: 'AAPL', usdc: 1n, deadline })
  return order.intent
}

it('the portfolio is null before the first write, and gives the next intent a nonce above its own', async () => {
  const alice = device()
  expect(await alice.getPortfolio()).toBeNull()
  const { publicKey } = await alice.unlock()
  const nonce = Date.now() + 1_000_000_000
  await write(publicKey, 1, nonce)
  expect((await sell(alice)).nonce).toBe(nonce + 1)
})

it('the key is derived once, and again after it was locked', async () => {
  const alice = device()
  const [one, two] = await Promise.all([alice.unlock(), alice.unlock()])
  expect(two).toBe(one)
  alice.lock()
  const begun = alice.unlock()
  alice.lock()
  const again = await alice.unlock()
  expect(again).not.toBe(one)
  expect(again).not.toBe(await begun)
  expect(again).toEqual(one)
})

it('the key is made by one signature where it opens the portfolio, and by two where it opens none', async () => {
  const [first, later, other] = [device(), device(), device()]
  const deadline = (await chain().now()) + 60
  const unlocking = async (client: Client) => {
    const plan = await client.plan({ side: 'SELL', symbol: 'AAPL', usdc: 1n, deadline })
    return plan.filter(({ step }) => step === 'unlocking').length
  }
  expect(await unlocking(first)).toBe(2)
  const { publicKey } = await first.unlock()
  expect([first.counted.asked, await unlocking(first)]).toEqual([2, 0])
  await write(publicKey, 1)
  expect(await unlocking(later)).toBe(1)
  expect((await later.unlock()).publicKey).toBe(publicKey)
  expect(later.counted.asked).toBe(1)
  await write(ANOTHER_KEY, 2)
  await other.unlock()
  expect(other.counted.asked).toBe(2)
})

it('the key is that of the vectors', async () => {
  answerAsServer(api, chain())
  const wallet = new Wallet(keyVectors.walletPrivateKey, chain().provider)
  const { privateKey } = await clientOf(chain(), api, 'alice', { wallet }).unlock()
  expect(bytesToHex(privateKey)).toBe(keyVectors.portfolioPrivateKey)
})

/** The same signature with s in the upper half and v counted from 0, as some wallets give it. */
function mirrored(signature: string): string {
  const s = CURVE_ORDER - BigInt(`0x${signature.slice(66, 130)}`)
  return `${signature.slice(0, 66)}${s.toString(16).padStart(64, '0')}${signature.endsWith('1b') ? '01' : '00'}`
}

it('the key is the same when the wallet writes its second signature otherwise, and none when it signs by another key', async () => {
  const [alice, signer] = [device(), walletOf(chain(), 'alice')]
  alice.signTextBy(async (text) => {
    const signature = await signer.signMessage(text)
    return alice.counted.asked === 2 ? mirrored(signature) : signature
  })
  expect(await alice.unlock()).toEqual(await device().unlock())
  alice.lock()
  alice.signTextBy(() => new Wallet(`0x${'77'.repeat(32)}`).signMessage(PORTFOLIO_KEY_MESSAGE))
  await expect(alice.unlock()).rejects.toMatchObject({ code: 'signature-invalid' })
})

it('a drawn key is random, bound to the account, and not in use before its file comes back', async () => {
  const alice = device()
  const [one, other] = [await alice.drawKey(), await alice.drawKey()]
  expect(read(one)).toMatchObject({ v: 1, account: chain().account('alice') })
  expect(read(one).keys).toHaveLength(1)
  expect(read(one).keys[0]?.privateKey).not.toBe(read(other).keys[0]?.privateKey)
  expect(alice.counted.asked).toBe(0)
  const derived = await alice.unlock()
  expect(derived.drawnAt).toBe(0)
  await alice.importKeys(one)
  const { privateKey } = await alice.unlock()
  expect(bytesToHex(privateKey)).toBe(read(one).keys[0]?.privateKey)
  expect(privateKey).not.toEqual(derived.privateKey)
})

it('a wallet that signs differently each time orders by a drawn key, and is asked for its own no more', async () => {
  const alice = device()
  const { privateKey } = walletOf(chain(), 'alice')
  alice.signTextBy((text) => signAtRandom(privateKey, text))
  await expect(alice.unlock()).rejects.toMatchObject({ code: 'wallet-not-deterministic' })
  await alice.importKeys(await alice.drawKey())
  const { publicKey } = await alice.unlock()
  expect((await sell(alice)).userPubKey).toBe(publicKey)
  await write(ANOTHER_KEY, 1)
  await expect(alice.getPortfolio()).rejects.toMatchObject({ code: 'portfolio-undecryptable' })
  expect(alice.counted.asked).toBe(2)
})

it('a drawn key leaves the older ones what they open: the derived one too', async () => {
  const alice = device()
  const derived = await alice.unlock()
  await write(derived.publicKey, 1)
  const first = await alice.drawKey()
  await alice.importKeys(first)
  expect((await alice.getPortfolio())?.version).toBe(1n)

  const middle = await alice.unlock()
  await write(middle.publicKey, 2)
  const second = await alice.drawKey()
  expect(read(second).keys.slice(1)).toEqual(read(first).keys)
  await alice.importKeys(second)
  const newest = await alice.unlock()
  await alice.importKeys(first)
  expect(await alice.unlock()).toEqual(newest)
  const elsewhere = device()
  await elsewhere.importKeys(second)
  expect((await elsewhere.getPortfolio())?.version).toBe(2n)
  expect(elsewhere.counted.asked).toBe(0)

  const orderId: Hex = `0x${'0b'.repeat(32)}`
  const text = { orderId, code: 'not-permitted', message: 'No.' }
  for (const { publicKey } of [await elsewhere.unlock(), middle, derived]) {
    const notice = await sealNotice(text, publicKey)
    expect(await elsewhere.openNotice({ orderId, notice })).toEqual(text)
    const other = elsewhere.openNotice({ orderId: `0x${'0c'.repeat(32)}`, notice })
    await expect(other).rejects.toMatchObject({ code: 'notice-undecryptable' })
  }
  expect(await elsewhere.openNotice({ orderId, notice: null })).toBeNull()
})

it('an order goes out under another drawn key when the file was lost, up to the version that it was drawn at', async () => {
  const alice = device()
  await alice.importKeys(await alice.drawKey())
  const { publicKey: lost } = await alice.unlock()
  await write(lost, 1)

  const without = device()
  await without.importKeys(await without.drawKey())
  expect((await sell(without)).userPubKey).toBe((await without.unlock()).publicKey)
  await write(lost, 2)
  await expect(sell(without)).rejects.toMatchObject({ code: 'portfolio-key-missing' })
  await without.importKeys(await without.drawKey())
  expect((await sell(without)).userPubKey).toBe((await without.unlock()).publicKey)
})

it('a key that is imported while the keys are locked is not held afterwards, and none of another account', async () => {
  const alice = device()
  const imported = alice.importKeys(await alice.drawKey())
  alice.lock()
  await imported
  expect((await alice.unlock()).drawnAt).toBe(0)
  const foreign = clientOf(chain(), api, 'bob').importKeys(await alice.drawKey())
  await expect(foreign).rejects.toMatchObject({ code: 'foreign-key-file' })
})

const [KEY, HIGH] = [`0x${'5a'.repeat(32)}`, `0x${'ff'.repeat(32)}`]
const entry = { privateKey: KEY, drawnAt: 1, portfolioVersion: '0' }
it.each<[string, (account: Hex) => unknown]>([
  ['of another version', (account) => ({ v: 2, account, keys: [entry] })],
  ['without keys', (account) => ({ v: 1, account, keys: [] })],
  ['with a member too many', (account) => ({ v: 1, account, keys: [entry], note: KEY })],
  ['with a key above the order', (account) => ({ v: 1, account, keys: [{ ...entry, privateKey: HIGH }] })],
  ['too long', (account) => ({ v: 1, account, keys: Array.from({ length: 600 }, () => entry) })],
])('a key file is refused and not quoted: %s', async (_, fileOf) => {
  const alice = device()
  const text = JSON.stringify(fileOf(chain().account('alice')))
  const error: unknown = await alice.importKeys(text).catch((cause: unknown) => cause)
  expect(error).toMatchObject({ code: 'invalid-key-file' })
  expect(error).not.toHaveProperty('cause')
  expect(String(error)).not.toContain('5a5a')
  expect((await alice.unlock()).drawnAt).toBe(0)
})

it('a key file is as docs/protocol.md has it', async () => {
  const page = await readFile('docs/protocol.md', 'utf8')
  const [, example = ''] = /### A drawn key\n[\s\S]*?```json\n([\s\S]*?)```/.exec(page) ?? []
  const alice = device()
  await alice.importKeys(example.replace(read(example).account, chain().account('alice')))
  expect(bytesToHex((await alice.unlock()).privateKey)).toBe(read(example).keys[0]?.privateKey)
})
