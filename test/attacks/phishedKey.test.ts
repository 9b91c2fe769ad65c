// Actor: a page that asks an employee, Alice, to sign the text "Service portfolio key v1", as the platform's own page does.
// Cost: one look-alike page. The wallet shows a harmless text, and the signature moves no money.
// Effect: it got the key of her portfolio, and with it every later balance, position and notice from the public chain. Her wallet derives
// no other key from that text, so she could not end it.
// Now: "key rotate" draws a random key. From the next admitted order on the thief opens nothing new; the past stays readable to him. A
// device without the new key does not bring the old one back.
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { AbstractSigner, type Provider, Wallet } from 'ethers'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { createClient } from '../../src/client/index.js'
import { bytes32Schema } from '../../src/protocol/hex.js'
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

const keyFile = z.object({ keys: z.array(z.object({ privateKey: z.string() })) })
const portfolioOutput = z.object({ version: z.string(), portfolio: portfolioSchema })
const orderOutput = z.object({
  orderId: bytes32Schema,
  state: z.string(),
  notice: z.object({ code: z.string() }).nullable(),
})

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
  const phished = await new Wallet(alice.account.privateKey).signMessage(TEXT)
  const thief = createClient({
    serverUrl: sandbox.info.url,
    wallet: new PhishedSigner(sandbox.provider, alice.account.address, phished),
    allowUnattested: true,
  })
  const reads = async () => (await thief.getPortfolio())?.portfolio
  expect(await reads()).toEqual(await portfolio(env))
  expect((await thief.openNotice(await thief.getOrder(refused.orderId)))?.code).toBe('insufficient-shares')

  // The file is hers alone, and the key is never shown.
  const rotated = await run(`key rotate ${file}`, env)
  expect([rotated.exit, (await stat(file)).mode & 0o777]).toEqual([0, 0o600])
  const [key = expect.fail('no key')] = keyFile.parse(JSON.parse(await readFile(file, 'utf8'))).keys
  expect(rotated.out + rotated.err).not.toContain(key.privateKey.slice(2))
  expect((await run(`key rotate ${file}`)).exit).toBe(2)

  // The old key is in use until an order is admitted: a refused one does not replace it, but its notice is sealed to the new one.
  const next = await order('sell MSFT 100')
  expect(next.notice?.code).toBe('insufficient-shares')
  expect(await reads()).toEqual(await portfolio())
  await expect(thief.openNotice(await thief.getOrder(next.orderId))).rejects.toMatchObject({
    code: 'notice-undecryptable',
  })

  // The smallest order that replaces it: her own cash, to her own wallet.
  expect((await order('withdraw USDC 10')).state).toBe('SETTLED')
  await expect(reads()).rejects.toMatchObject({ code: 'portfolio-undecryptable' })
  const { cash, positions } = await portfolio()
  expect(cash).toBeGreaterThan(0n)
  expect(Object.keys(positions)).toEqual(['AAPL'])

  // Another device of hers, without the file, neither reads nor seals the portfolio to the phished key again.
  expect((await run('portfolio', env)).err).toContain('"portfolio-undecryptable"')
  expect((await run('order sell AAPL 50', env)).err).toContain('"portfolio-key-missing"')
  // With it she trades there, and the thief stays outside.
  expect((await order('sell AAPL 50')).state).toBe('SETTLED')
  await expect(reads()).rejects.toMatchObject({ code: 'portfolio-undecryptable' })
})
