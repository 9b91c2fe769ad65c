// One story from a stranger's first visit to a sale, told in a browser. Its parts build on each other.
import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { findViolations } from './support/accessibility.js'
import { PATIENCE_MS } from './support/browser.js'
import { goTo, newestOrder, openCopy, order, seeNow, useBrowserDesk } from './support/desk.js'
import { screenshot } from './support/screenshot.js'

const desk = useBrowserDesk({ pagesStay: true })
const HOUR_MS = 3_600_000
/** Pages of people who stay for the whole story. */
const pages = new Map<string, Page>()

async function pageOf(name: string): Promise<Page> {
  const page = pages.get(name) ?? (await desk().visitAs(name))
  pages.set(name, page)
  return page
}
const noor = () => desk().sandbox.accounts.newcomer.address

/** Copies on one person's page and pastes on another's. */
async function paste(from: Page, into: Locator): Promise<void> {
  // A browser without windows grants it to no page by itself.
  for (const page of [from, into.page()]) {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  }
  // It is said for some seconds alone.
  const said = from.getByText('Address copied').first().waitFor()
  await Promise.all([said, from.locator('main').getByRole('button', { name: 'Copy address' }).click()])
  await into.fill('')
  await into.press('Control+V')
}

describe('a page of another origin', () => {
  it('says that the server does not allow it', async () => {
    const page = await desk().visit(desk().url.replace('localhost', '127.0.0.1'))
    await page.getByRole('alert').getByText('does not allow this page').waitFor()
    await page.context().close()
    // The browser reports answers that the page may not read.
    for (const complaint of desk().complaints.splice(0)) {
      expect(complaint).toContain("No 'Access-Control-Allow-Origin' header is present")
    }
  })
})

describe('a newcomer', () => {
  it('finds an institution, waits, and trades once it is invited and verified', async () => {
    const page = await pageOf('Noor')
    await page.getByRole('heading', { name: 'Join or create an institution' }).waitFor()
    expect(await findViolations(page)).toEqual([])

    const admin = await pageOf('Dana')
    await goTo(admin, 'Institution')
    const address = admin.getByLabel('Invite a wallet')
    const invite = admin.getByRole('button', { name: 'Invite', exact: true })
    const [member] = desk().sandbox.accounts.employees
    await address.fill(member.address)
    await invite.click()
    await admin.getByRole('alert').getByText('That wallet already belongs to an institution').waitFor()
    expect(await address.inputValue()).toBe(member.address)
    await paste(page, address)
    expect(await address.inputValue()).toBe(noor())
    await invite.click()
    await admin.getByRole('row', { name: /Noor .*invited/ }).waitFor()

    const { address: inviter } = desk().sandbox.accounts.admin
    expect(await page.locator('[data-test=invited-by]').textContent()).toBe(inviter)
    expect(await findViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Join Example Capital' }).click()
    await page.getByRole('heading', { name: 'Almost there' }).waitFor()
    const steps = (await page.getByRole('listitem').allInnerTexts()).join()
    expect(steps).toMatch(
      /Institution done[\s\S]*Admission done[\s\S]*Verification waiting[\s\S]*A rulebook done/,
    )
    expect(await findViolations(page)).toEqual([])

    const operator = await pageOf('Otto')
    await goTo(operator, 'Operator')
    await operator.getByRole('button', { name: 'Verify Noor' }).click()
    await operator
      .getByText('No institution is waiting for admission, and no member for verification.')
      .waitFor()
    // The form is for wallets that no event names; asking twice changes nothing.
    await operator.getByLabel('Address', { exact: true }).fill(noor())
    await operator.getByRole('button', { name: 'Verify', exact: true }).click()
    await operator.getByText('is verified.').waitFor()
    await operator.getByText('answers', { exact: true }).waitFor()
    await operator.getByText('the one this page knows', { exact: true }).waitFor()
    expect(await findViolations(operator)).toEqual([])

    await page.getByRole('heading', { name: 'Market', exact: true }).waitFor()
  })
})

describe('the admin', () => {
  it('publishes a rulebook and sees that it goes on, until it is in force', async () => {
    const page = await pageOf('Dana')
    await openCopy(page, desk().copy)
    await page.getByLabel('Noor may buy').check()
    await page.getByLabel('Noor may sell').check()
    await page.getByLabel('Noor may trade TSLA').uncheck()
    await page.getByLabel('Largest order').fill('5,000')
    await page.getByRole('button', { name: 'Publish version 2' }).click()
    await page.getByRole('progressbar').waitFor()
    await page.getByText('Version 2 is in force.').waitFor()
    await page.getByText('version 2 is in force', { exact: true }).waitFor()
    expect(await findViolations(page)).toEqual([])
    await page.evaluate(() => scrollTo(0, 0))
    await screenshot(page, 'institution')
  })
})

/** The status for a page that has looked before: the server has to let it read the tag, and send it back. */
function statusOfSecondLook(page: Page, url: string): Promise<number> {
  return page.evaluate(async (at) => {
    const tag = (await fetch(at)).headers.get('etag')
    return (await fetch(at, { headers: { 'if-none-match': tag ?? 'none' } })).status
  }, url)
}

/** Whether the details of each listed order are open. */
const openOrders = (page: Page) =>
  page.locator('.order > details').evaluateAll((all) => all.map((details) => details.hasAttribute('open')))

describe('an employee', () => {
  it('buys, and opens what the chain holds as a cipher', async () => {
    const page = await pageOf('Noor')
    // Keys in files prove nothing, and the page says so without being asked.
    expect(await page.locator('[data-test=file-keys]').innerText()).toMatch(/can read its memory/)
    await page.getByText('No vendor vouches for it.').waitFor()
    const opened = (await pageOf('Otto')).getByText('opened: 1,000.00 USDC in escrow')
    expect(await opened.count()).toBe(0)
    const followed = page.waitForResponse((response) => /\/orders\/0x/.test(response.url()) && response.ok())
    await order(page, 'Buy', 'AAPL', '1,000')
    await opened.waitFor()
    const url = (await followed).url()
    // The order may change between two looks.
    await expect.poll(() => statusOfSecondLook(page, url), { timeout: PATIENCE_MS }).toBe(304)
    const card = await newestOrder(page, 'SETTLED')
    expect(await card.textContent()).toContain('Buy AAPL for 1,000.00 USDC')
    await card.getByText('Settled on the chain').waitFor()
    const [fill] = desk().sandbox.broker.orders()
    const shares = Number(fill?.filled_qty).toFixed(9).slice(0, 6)
    await page.locator('[data-holding=AAPL]', { hasText: shares }).waitFor()
    expect(await page.locator('[data-test=total]').textContent()).toMatch(/^(?:9|1,0)\d\d\.\d\d USDC$/)
    expect(await findViolations(page)).toEqual([])
  })

  it('sees prices move, and finds everything as it was after a look elsewhere', async () => {
    const { broker } = desk().sandbox
    const page = await pageOf('Noor')
    for (const [price, change] of [
      ['210.28', '−0.99 %'],
      ['214.52', '+0.99 %'],
    ] as const) {
      broker.price({ symbol: 'AAPL', price })
      await seeNow(page, page.locator('[data-price=AAPL]', { hasText: price }))
      expect(await page.locator('[data-change=AAPL]').textContent()).toBe(change)
    }
    await goTo(page, 'Operator')
    await page.getByRole('heading', { name: 'Operator' }).waitFor()
    await goTo(page, 'Desk')
    // Prices of before the page was opened, up to now: the newest stands at the right edge.
    const chart = page.locator('[data-chart=AAPL]')
    await chart.waitFor({ state: 'attached' })
    const isWhole = async () => {
      const points = ((await chart.getAttribute('d')) ?? '').split('L')
      return points.length > 20 && points.at(0)?.startsWith('M0.0 ') && points.at(-1)?.startsWith('96.0 ')
    }
    await expect.poll(isWhole, { timeout: PATIENCE_MS }).toBe(true)
    await page.getByRole('button', { name: 'AAPL chart' }).click()
    await page.getByRole('img', { name: /^AAPL, last five days: / }).waitFor()
    expect(await findViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'AAPL chart' }).click()
    await page.locator('.order').first().getByText('Buy AAPL for 1,000.00 USDC').waitFor()
    await page.locator('[data-test=total]').waitFor()

    await page.getByText('Settled on the chain').waitFor()
    await page.evaluate(() => scrollTo(0, 0))
    await screenshot(page, 'trade')
  })

  it('reads why an order was refused', async () => {
    const page = await pageOf('Noor')
    await order(page, 'Buy', 'TSLA', '100')
    const card = await newestOrder(page, 'REFUNDED')
    await card.getByText('Your institution does not allow you to trade this symbol.').waitFor()
    await card.getByRole('status').getByText('Refused', { exact: true }).waitFor()
    expect(await findViolations(page)).toEqual([])
    // The newest order's details are open by themselves; an earlier one's only while its owner wants that.
    await expect.poll(() => openOrders(page), { timeout: PATIENCE_MS }).toEqual([true, false])
    await page.locator('.order').nth(1).locator('summary').click()
    expect(await openOrders(page)).toEqual([true, true])
  })

  it('sells, and withdraws the cash to the wallet', async () => {
    const page = await pageOf('Noor')
    await order(page, 'Sell', 'AAPL', '250')
    await newestOrder(page, 'SETTLED')
    await expect.poll(() => openOrders(page), { timeout: PATIENCE_MS }).toEqual([true, false, true])
    await page.locator('[data-holding=USDC]', { hasText: /^2[45]\d\.\d\d$/ }).waitFor()
    await order(page, 'Withdraw', 'USDC', '100')
    await page.locator('.order:first-child[data-state=SETTLED]', { hasText: 'Withdraw 100 USDC' }).waitFor()
    await page.locator('[data-holding=USDC]', { hasText: /^1[45]\d\.\d\d$/ }).waitFor()
    await page.locator('.choice-row label', { hasText: 'Buy' }).click()
    await page.getByText('49,100.00 USDC in the wallet.').waitFor()
  })

  it('leaves an order for when the market opens', async () => {
    const page = await pageOf('Noor')
    const { broker } = desk().sandbox
    broker.clock({ open: false, nextOpen: new Date(Date.now() + HOUR_MS).toISOString() })
    await seeNow(page, page.locator('[data-test=clock]', { hasText: 'Closed, opens in' }))
    await page.locator('.choice-row label', { hasText: 'Buy' }).click()
    await page.getByText('The order waits, sealed, until the market opens.').waitFor()
    await order(page, 'Buy', 'AAPL', '50')
    await page.locator('.order').first().getByText('Waiting for the market', { exact: true }).waitFor()
    expect(await page.locator('.order').first().getAttribute('data-state')).toBe('OPEN')
    broker.clock({ open: true })
    await seeNow(page, page.locator('[data-test=clock]', { hasText: 'Open, closes in' }))
    await newestOrder(page, 'SETTLED')
  })
})

describe('a wallet without an invitation', () => {
  it('founds an institution, and is its admin once the operator admits it', async () => {
    const page = await pageOf('Otto')
    await goTo(page, 'Desk')
    const create = page.getByRole('button', { name: 'Create institution' })
    await page.getByLabel('Institution name').fill('Crédit Nord')
    await page.getByText('“é” cannot be in the name: use letters without accents').waitFor()
    expect(await create.isDisabled()).toBe(true)
    expect(await findViolations(page)).toEqual([])
    await page.getByLabel('Institution name').fill('Second Capital')
    await create.click()
    await page.getByRole('heading', { name: 'Almost there' }).waitFor()
    await page.locator('li', { hasText: 'Admission waiting' }).waitFor()
    await goTo(page, 'Institution')
    await page.getByText('has not admitted this institution yet').waitFor()
    await goTo(page, 'Operator')
    await page.locator('[data-test=waiting]').getByText('Second Capital').waitFor()
    expect(await findViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Admit Second Capital' }).click()
    await page.locator('[data-test=waiting]').getByText('Second Capital').waitFor({ state: 'detached' })
    await page.getByLabel('Show').selectOption('registry')
    await page.locator('[data-test=events]').getByText('Second Capital was founded').waitFor()
    const tags = await page.locator('[data-test=events] .tag').allInnerTexts()
    expect(new Set(tags.map((tag) => tag.toLowerCase()))).toEqual(new Set(['registry']))
    await page.getByLabel('Institution name').fill('Second Capital')
    await page.getByLabel('Founder’s address').fill(desk().sandbox.accounts.owner.address)
    await page.getByRole('button', { name: 'Admit', exact: true }).click()
    await page.getByText('Second Capital is admitted.').waitFor()
    await goTo(page, 'Desk')
    await page.getByRole('link', { name: 'invite members and publish the rulebook' }).click()
    await page.getByRole('heading', { name: 'Second Capital' }).waitFor()
    await page.getByRole('row', { name: /Otto .*admin/ }).waitFor()
  })
})

describe('a member', () => {
  it('leaves by itself: it is asked twice, and buys nothing from then on', async () => {
    const page = await pageOf('Noor')
    await goTo(page, 'Institution')
    await page.getByRole('button', { name: 'Leave this institution…' }).click()
    expect(await findViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Leave Example Capital' }).click()
    await page.locator('[data-test=leaving]').waitFor()
    await goTo(page, 'Desk')
    await page.locator('[data-test=leaving]').waitFor()
    await page.locator('#ticket-amount').fill('10')
    const button = page.locator('[data-test=place]', { hasText: 'You cannot buy while leaving' })
    await button.waitFor()
    expect(await button.isDisabled()).toBe(true)
    await page.locator('.choice-row label', { hasText: 'Withdraw' }).click()
    await page.locator('#ticket-symbol').selectOption('USDC')
    await page.locator('#ticket-amount').fill('10')
    await page.locator('[data-test=place]:enabled', { hasText: 'Withdraw USDC' }).waitFor()
  })
})
