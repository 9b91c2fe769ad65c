// Failures between a person, a wallet and the server, and the page's messages.
import { toUtf8String } from 'ethers'
import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { signAtRandom } from '../client/clientSetting.js'
import { expectFit, findViolations } from './support/accessibility.js'
import { PATIENCE_MS } from './support/browser.js'
import { keptOrders, newestOrder, order, refusePost, useBrowserDesk } from './support/desk.js'
import {
  askedOf,
  changeExtension,
  type ExtensionOptions,
  installExtension,
  waitForAsking,
} from './support/extension.js'
import { holdCalls } from './support/hold.js'
import { tabTo } from './support/keyboard.js'

const desk = useBrowserDesk()
const OTHER_CHAIN = 1
/** Funds and portfolio are two each: a page that has made so many calls has read the portfolio again. */
const CALLS_OF_A_POLL = 5
/** In seconds: a day until the deadline, a week after it, and one to spare. */
const NINE_DAYS = 9 * 24 * 3_600
/** Until it is cleared. */
const ALWAYS = 1_000_000
const PHONE = { width: 360, height: 740 }

/** A page, not yet opened, in a browser with a wallet of Cleo's. */
async function withWallet(options: Partial<ExtensionOptions> = {}): Promise<Page> {
  const { sandbox } = desk()
  const { rpcUrl, chainId } = sandbox.info
  const [, , { address }] = sandbox.accounts.employees
  const page = await desk().visit('about:blank', { colorScheme: 'dark' })
  const wallet = { name: 'Example Wallet', address, rpcUrl, chainId, refuses: [] }
  await installExtension(page, { ...wallet, ...options })
  return page
}

describe('a wallet that does not answer', () => {
  it.each([
    ['announces itself', 'Example Wallet', false],
    ['is found at window.ethereum', 'Browser wallet', true],
  ])('and %s can be left, asked again, or left for another one', async (_how, name, isPlain) => {
    const page = await withWallet({ isPlain, silentOn: 'eth_requestAccounts' })
    await page.goto(desk().url)
    const wallet = page.getByRole('button', { name })
    const cancel = page.getByRole('button', { name: 'Cancel' })
    await wallet.click()
    await page.getByText('check your wallet…').waitFor()
    expect(await findViolations(page)).toEqual([])
    await cancel.click()
    await cancel.waitFor({ state: 'detached' })

    await wallet.click()
    await page.getByRole('button', { name: /^Ben\b/ }).click()
    await page.getByRole('button', { name: 'Disconnect' }).click()
    expect(await cancel.count()).toBe(0)

    await changeExtension(page, { silentOn: '' })
    await wallet.click()
    await page.getByRole('heading', { name: 'Market', exact: true }).waitFor()
  })
})

describe('a wallet that signs differently each time', () => {
  it('orders by a key file, which it is told to make before its first order', async () => {
    const [{ address, privateKey }] = desk().sandbox.accounts.employees
    const page = await withWallet({ address })
    await page.exposeFunction('signByExtension', (text: string) =>
      signAtRandom(privateKey, toUtf8String(text)),
    )
    await page.goto(desk().url)
    await page.getByRole('button', { name: 'Example Wallet' }).click()
    await order(page, 'Buy', 'AAPL', '500')
    await page.getByRole('alert').getByText('This wallet signs the same text differently').waitFor()
    await page.getByText('Your wallet needs a key file').waitFor()
    expect(await findViolations(page)).toEqual([])
    const saving = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Make a new key' }).click()
    await page.getByLabel('Use a key file').setInputFiles(await (await saving).path())
    await page.getByText('Your wallet needs a key file').waitFor({ state: 'detached' })
    await order(page, 'Buy', 'AAPL', '500')
    await newestOrder(page, 'SETTLED')
    await page.locator('[data-holding=AAPL]').waitFor()
    expect(await askedOf(page, 'personal_sign')).toBe(2)
  })
})

describe('a wallet of the browser', () => {
  it('is found, switched to the right chain, and may say no', async () => {
    const { sandbox, url } = desk()
    const [, , third] = sandbox.accounts.employees
    const page = await withWallet({ refuses: ['personal_sign'], chainId: OTHER_CHAIN })
    await page.goto(url)
    await page.getByRole('button', { name: 'Example Wallet' }).click()
    await page.getByRole('heading', { name: 'Your wallet is on another chain' }).waitFor()
    expect(await findViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Switch to Sandbox' }).click()

    await page.locator('#ticket-amount').fill('70')
    const key = page.locator('.asked li', { hasText: 'Makes the key that opens your portfolio.' })
    await key.waitFor({ state: 'attached' })
    await page.getByRole('button', { name: 'Open my portfolio' }).click()
    await page.getByRole('alert').getByText('You declined in your wallet').waitFor()
    await changeExtension(page, { refuses: [] })
    const letGo = await holdCalls(page, sandbox.info.rpcUrl, 'eth_call')
    await page.getByRole('button', { name: 'Open my portfolio' }).click()
    await page.getByText('Reading your portfolio from the chain…').waitFor()
    expect(await page.getByText('You have no portfolio yet').count()).toBe(0)
    letGo()
    await page.getByText('You have no portfolio yet. Your first order creates it.').waitFor()
    expect(await key.count()).toBe(0)

    const signed = await askedOf(page, 'personal_sign')
    await changeExtension(page, { accounts: [third.address] })
    await waitForAsking(page, 'eth_call', CALLS_OF_A_POLL)
    expect(await page.getByRole('button', { name: 'Open my portfolio' }).count()).toBe(0)
    expect(await askedOf(page, 'personal_sign')).toBe(signed)

    await changeExtension(page, { refuses: ['eth_sendTransaction'] })
    await order(page, 'Buy', 'AAPL', '70', { feePayer: 'Wallet pays' })
    await page.getByRole('alert').getByText('You declined in your wallet').waitFor()
    expect(await page.locator('.order').count()).toBe(0)
    expect(await keptOrders(page)).toBe(0)

    const asked = await askedOf(page, 'eth_requestAccounts')
    await changeExtension(page, { accounts: [] })
    await page.getByRole('heading', { name: 'Connect a wallet' }).waitFor()
    expect(await askedOf(page, 'eth_requestAccounts')).toBe(asked)

    await page.getByRole('button', { name: 'Example Wallet' }).click()
    await page.getByRole('button', { name: 'Disconnect' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Your wallet is on another chain' }).waitFor()
    expect(await askedOf(page, 'eth_requestAccounts')).toBe(0)
  })
})

describe('a wallet that pays itself, and does not batch', () => {
  it('may allow later orders too, which are one request less each, and takes that back', async () => {
    const [, { address }] = desk().sandbox.accounts.employees
    const page = await withWallet({ address })
    await page.goto(desk().url)
    await page.getByRole('button', { name: 'Example Wallet' }).click()
    const allowed = page.locator('[data-test=allowed]')
    const asks = (times: number) =>
      page.locator('summary', { hasText: `What your wallet will ask: ${times} requests` }).waitFor()
    await page.locator('#ticket-amount').fill('100')
    await asks(4)
    expect(await allowed.count()).toBe(0)
    await page.locator('.choice-row label', { hasText: 'Wallet pays' }).click()
    await allowed.getByText('asked 5 times now, and 3 times for each later order.').waitFor()
    await page.locator('.choice-row label', { hasText: 'For later ones too' }).click()
    await allowed
      .getByText(/up to 1,000\.00 USDC .* 5 times now, and 2 times for each later order\.$/)
      .waitFor()
    const approval = page.locator('.asked li', { hasText: 'Lets the escrow take 1,000.00 USDC.' })
    await approval.waitFor({ state: 'attached' })
    expect(await findViolations(page)).toEqual([])
    await order(page, 'Buy', 'AAPL', '100')
    await newestOrder(page, 'SETTLED')
    await page.locator('[data-test=allowance]', { hasText: '900.00 USDC' }).waitFor()

    await page.locator('#ticket-amount').fill('100')
    await asks(2)
    expect(await allowed.count()).toBe(0)
    const sent = await askedOf(page, 'eth_sendTransaction')
    await order(page, 'Buy', 'AAPL', '100')
    await page.locator('[data-test=allowance]', { hasText: '800.00 USDC' }).waitFor()
    expect(await askedOf(page, 'eth_sendTransaction')).toBe(sent + 1)
    await newestOrder(page, 'SETTLED')

    expect(await findViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Withdraw the allowance' }).click()
    await page.locator('[data-test=allowance]').waitFor({ state: 'detached' })
    await page.locator('#ticket-amount').fill('100')
    await allowed.getByText('100.00 USDC for this order, and nothing later.').waitFor()
    await asks(3)
  })
})

describe('the keyboard alone', () => {
  it('connects, and places an order that settles; on a narrow screen in the dark', async () => {
    const page = await desk().visit(undefined, { viewport: PHONE, colorScheme: 'dark' })
    const ben = page.getByRole('button', { name: /^Ben\b/ })
    await ben.waitFor()
    await expectFit(page)
    await tabTo(page, ben)
    await page.keyboard.press('Enter')
    const amount = page.locator('#ticket-amount')
    await amount.waitFor()
    await expectFit(page)
    await tabTo(page, amount)
    await page.keyboard.type('0.5')
    expect(await descriptionOf(amount)).toBe('Enter at least 1 USDC.')
    await page.keyboard.press('Control+A')
    await page.keyboard.type('25')
    await page.keyboard.press('Enter')
    await newestOrder(page, 'SETTLED')
  })

  it('skips to the content of a screen without leaving it', async () => {
    const { sandbox } = desk()
    const page = await desk().visit(undefined, { viewport: PHONE, colorScheme: 'dark' })
    await page.getByRole('button', { name: /^Dana\b/ }).click()
    const link = page.getByRole('link', { name: 'Institution', exact: true })
    await link.waitFor()
    const letGo = await holdCalls(page, sandbox.info.rpcUrl, 'eth_getLogs')
    await tabTo(page, link)
    await page.keyboard.press('Enter')

    // A rulebook that is published before its members are known would bar them all.
    const publish = page.getByRole('button', { name: /^Publish version/ })
    await publish.waitFor()
    expect(await page.getByText('Reading the members…').count()).toBe(2)
    await page.locator('#max-order').fill('7,000')
    expect(await publish.isDisabled()).toBe(true)
    letGo()
    await page.getByLabel('Ben may trade TSLA').waitFor()
    expect(await publish.isDisabled()).toBe(false)
    await expectFit(page)

    await tabTo(page, page.getByRole('button', { name: 'Skip to the content' }), 'Shift+Tab')
    await page.keyboard.press('Enter')
    expect(new URL(page.url()).hash).toBe('#/institution')
    await page.locator('#main:focus').waitFor()
    expect(await page.locator('#max-order').inputValue()).toBe('7,000')
  })
})

/** A control's description for a screen reader, beside its name. */
function descriptionOf(control: Locator): Promise<string | undefined> {
  return control.evaluate(
    (element) => document.getElementById(element.getAttribute('aria-describedby') ?? '')?.textContent,
  )
}

describe('a server that is away', () => {
  it('is said to be silent, and to have no prices while it is back without its broker', async () => {
    const { sandbox } = desk()
    const operator = await desk().visit(`${desk().url}#/operator`)
    await operator.getByText('answers', { exact: true }).waitFor()
    await sandbox.server().kill()
    await operator.getByText('silent', { exact: true }).waitFor()
    const { name: account } = sandbox.secrets.serverBroker
    sandbox.broker.fault({ account, times: ALWAYS, respond: { status: 500 } })
    await sandbox.restartServer()
    await operator.getByText('answers', { exact: true }).waitFor()
    await operator.context().close()
    const page = await desk().visitAs('Cleo')
    await page.getByRole('alert').getByText('Market data unavailable').waitFor()
    await page.getByText('Market hours unknown').waitFor()
    expect(await page.getByText('Loading prices…').count()).toBe(0)
    sandbox.broker.clear({ what: 'faults' })
    await page.locator('[data-price=AAPL]').waitFor()
  })
})

describe('a page that cannot be drawn', () => {
  it('says so, and does not put it down to its settings', async () => {
    const page = await desk().visit('about:blank')
    await page.addInitScript(() => {
      window.addEventListener = () => {
        throw new Error('nothing is listened to here')
      }
    })
    await page.goto(desk().url)
    await page.getByRole('alert').getByText('This page has failed').waitFor()
  })
})

describe('an order whose sending fails in the middle', () => {
  it('is listed when it is unknown whether it is open, and submitted once it is', async () => {
    const page = await desk().visitAs('Cleo')
    await loseAnswerOf(page, 'eth_sendTransaction')
    await order(page, 'Buy', 'AAPL', '70', { payFrom: 'Portfolio cash', feePayer: 'Wallet pays' })
    const alert = page.getByRole('alert').filter({ hasText: 'The order may be open' })
    await alert.getByText('Check your orders before you order again.').waitFor()
    expect(await page.locator('#ticket-amount').inputValue()).toBe('')
    // It is open, so the page submits it by itself.
    await newestOrder(page, 'REFUNDED')
    await expect.poll(() => keptOrders(page), { timeout: PATIENCE_MS }).toBe(0)
  })

  it('can be taken back from the contract when a week has passed', async () => {
    const { provider } = desk().sandbox
    const page = await desk().visitAs('Cleo')
    await page.route('**/orders', refusePost)
    await order(page, 'Buy', 'AAPL', '90', { feePayer: 'Wallet pays' })
    await page.locator('.order').first().getByText('Not submitted').waitFor()
    await page.getByRole('button', { name: 'Reclaim the escrow' }).waitFor({ state: 'detached' })
    await provider.send('evm_increaseTime', [NINE_DAYS])
    await page.clock.setSystemTime(Date.now() + NINE_DAYS * 1_000)
    await page.reload()
    await page.getByRole('button', { name: 'Reclaim the escrow' }).click()
    const card = await newestOrder(page, 'REFUNDED')
    await card.getByRole('status').getByText('Refunded', { exact: true }).waitFor()
    await page.getByText('50,000.00 USDC in the wallet.').waitFor()
  })
})

/** The node does what it is asked by this method, and its answer is lost; once. */
async function loseAnswerOf(page: Page, method: string): Promise<void> {
  const { rpcUrl } = desk().sandbox.info
  let lost = false
  await page.route(`${rpcUrl}/**`, async (route) => {
    if (lost || !route.request().postData()?.includes(method)) return route.fallback()
    lost = true
    await route.fetch()
    return route.abort()
  })
}
