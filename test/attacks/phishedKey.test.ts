// Actor: a page that asks an employee, Alice, to sign the text "Service portfolio key v1", as the platform's own
// page does.
// Cost: one look-alike page. The wallet shows a harmless text, and the signature moves no money.
// Effect: it got the key of her portfolio, and with it every later balance, position and notice from the
// public chain. Her wallet derives no other key from that text, so she could not end it.
// Now: "key rotate" draws a random key. From the next admitted order on the thief opens nothing new; the past
// stays readable to him. A device without the new key does not bring the old one back.
import { chmod, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { AbstractSigner, type Provider, Wallet } from 'ethers'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createClient } from '../../src/client/index.js'
import { bytes32Schema, hexToBytes } from '../../src/protocol/hex.js'
import { portfolioSchema } from '../../src/protocol/portfolio.js'
import { personEnv, runCli } from '../e2e/support/cli.js'
import { useDesk } from '../e2e/support/desk.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

const desk = useDesk()
const TEXT = 'Service portfolio key v1'

/** The thief's wallet: it has the phished signature, and nothing else of hers. */
class PhishedSigner extends AbstractSigner<Provider> {
  constructor(
    provider: Provider,
    readonly victim: string,
    readonly signature: string,
  ) {
    super(provider)
  }

  override getAddress = async () => this.victim
  override connect = () => this
  override signMessage = async () => this.signature
  override signTransaction = () => Promise.reject(new Error('no key'))
  override signTypedData = () => Promise.reject(new Error('no key'))
}

const portfolioOutput = z.object({ version: z.string(), portfolio: portfolioSchema })
const orderOutput = z.object({
  orderId: bytes32Schema,
  state: z.string(),
  notice: z.object({ code: z.string() }).nullable(),
})
const keyOutput = z.object({ publicKey: z.string(), drawnAt: z.string().nullable(), sealedTo: z.string() })

test('a thief of the signature reads the portfolio until its employee rotates the key', async () => {
  const { sandbox, traders } = desk()
  const [alice] = traders
  const directory = await temporaryDirectory()
  const env = personEnv(desk(), alice, directory)
  const file = join(directory, 'keys.json')
  const withFile: Record<string, string> = { ...env, TRADING_PORTFOLIO_KEYS: file }
  const run = (args: string, given = withFile) => runCli([...args.split(' '), '--json'], given)
  const portfolio = async (given = withFile) =>
    portfolioOutput.parse(JSON.parse((await run('portfolio', given)).out)).portfolio
  const order = async (args: string, given = withFile) =>
    orderOutput.parse(JSON.parse((await run(`order ${args}`, given)).out))

  // She trades, and one order of hers is refused. Then she signs on the wrong page.
  await order('buy AAPL 1000', env)
  await order('sell AAPL 300', env)
  const refused = await order('sell MSFT 100', env)
  expect(refused.notice?.code).toBe('insufficient-shares')
  const phished = await new Wallet(alice.account.privateKey).signMessage(TEXT)
  const thief = createClient({
    serverUrl: sandbox.info.url,
    wallet: new PhishedSigner(sandbox.provider, alice.account.address, phished),
    allowUnattested: true,
  })
  const reads = async () => (await thief.getPortfolio())?.portfolio
  expect(await reads()).toEqual(await portfolio(env))
  expect((await thief.openNotice(await thief.getOrder(refused.orderId)))?.code).toBe('insufficient-shares')

  // She rotates. The file is hers alone, and the key is never shown.
  const rotated = await run(`key rotate ${file}`, env)
  expect({ exit: rotated.exit, ...keyOutput.parse(JSON.parse(rotated.out)) }).toMatchObject({
    ...{ exit: 0, drawnAt: expect.any(String), sealedTo: 'older-key' },
  })
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const { keys } = z
    .object({ keys: z.array(z.object({ privateKey: z.string() })) })
    .parse(JSON.parse(await readFile(file, 'utf8')))
  const [drawn] = keys
  expect(hexToBytes(drawn?.privateKey ?? '')).not.toEqual((await thief.unlock()).privateKey)
  expect(rotated.out + rotated.err).not.toContain(drawn?.privateKey.slice(2))
  expect((await run(`key rotate ${file}`)).exit).toBe(2)

  // The old key is in use until an order is admitted: a refused one does not replace it, and its notice says so.
  const next = await order('sell MSFT 100')
  expect(next.notice?.code).toBe('insufficient-shares')
  expect(await reads()).toEqual(await portfolio())
  expect((await run('portfolio')).err).toContain('sealed to an older key')
  await expect(thief.openNotice(await thief.getOrder(next.orderId))).rejects.toMatchObject({
    code: 'notice-undecryptable',
  })

  // The smallest order that replaces it: her own cash, to her own wallet.
  expect((await order('withdraw USDC 10')).state).toBe('SETTLED')
  await expect(reads()).rejects.toMatchObject({ code: 'portfolio-undecryptable' })
  expect(keyOutput.parse(JSON.parse((await run('key')).out)).sealedTo).toBe('this-key')

  // She reads what is new, and what was sealed to the old key.
  const { cash, positions } = await portfolio()
  expect(cash).toBeGreaterThan(0n)
  expect(Object.keys(positions)).toEqual(['AAPL'])
  const reason = await run(`status ${refused.orderId} --reason`)
  expect(orderOutput.parse(JSON.parse(reason.out)).notice?.code).toBe('insufficient-shares')

  // Another device of hers, without the file, neither reads nor seals the portfolio to the phished key again.
  expect((await run('portfolio', env)).err).toContain('"portfolio-undecryptable"')
  const elsewhere = await run('order sell AAPL 50', env)
  expect(elsewhere.exit).toBe(1)
  expect(elsewhere.err).toContain('"portfolio-key-missing"')
  await expect(reads()).rejects.toMatchObject({ code: 'portfolio-undecryptable' })

  // With it she trades there, and the thief stays outside. Others of the machine do, too.
  expect((await order('sell AAPL 50')).state).toBe('SETTLED')
  expect((await portfolio()).cash).toBeGreaterThan(cash)
  await expect(reads()).rejects.toMatchObject({ code: 'portfolio-undecryptable' })
  await chmod(file, 0o644)
  expect((await run('portfolio')).exit).toBe(2)
})
