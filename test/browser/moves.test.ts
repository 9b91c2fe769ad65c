// A lost wallet's portfolio on its way to a new one: admin, new wallet and owner agree, and the wallet itself objects.
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { expectFit } from './support/accessibility.js'
import { deskAndPhone, goTo, useBrowserDesk } from './support/desk.js'
import { tabTo } from './support/keyboard.js'

const desk = useBrowserDesk()
const moves = (page: Page) => page.locator('[data-test=moves]')

describe.each(deskAndPhone())('on a %s, the move of a portfolio', (_size, name, options) => {
  const addresses = () => {
    const { employees, newcomer } = desk().sandbox.accounts
    const [ada, ben] = employees
    return { lost: (name === 'Ada' ? ada : ben).address, own: newcomer.address }
  }
  const visitAs = (person: string) => desk().visitAs(person, options)

  async function operator(): Promise<Page> {
    const page = await visitAs('Otto')
    await goTo(page, 'Operator')
    await moves(page).getByRole('listitem').waitFor()
    return page
  }

  it('is proposed by the admin, and cannot be approved before the new wallet has accepted it', async () => {
    const { lost, own } = addresses()
    const page = await visitAs('Dana')
    await goTo(page, 'Institution')
    await page.getByText('No move is proposed.').waitFor()
    await page.getByLabel('Lost wallet', { exact: true }).fill(lost)
    await page.getByLabel('New wallet of the same person').fill(lost)
    await page.getByText('This is the lost wallet itself.').waitFor()
    await expectFit(page)
    await page.getByLabel('New wallet of the same person').fill(own)
    await page.getByRole('button', { name: 'Propose the move' }).click()
    await moves(page).getByText('The new wallet has not accepted it yet.').waitFor()
    await expectFit(page)
    await page.context().close()
    const otto = await operator()
    expect(await otto.getByRole('button', { name: /^Approve/ }).count()).toBe(0)
  })

  it('is accepted by the new wallet and approved by the owner, who then sees when it can be carried out', async () => {
    const noor = await visitAs('Noor')
    const asked = noor.locator('[data-test=move-here]')
    await asked.getByText(addresses().lost).waitFor()
    await expectFit(noor)
    const accept = asked.getByRole('button', { name: 'Accept the portfolio' })
    // The portfolio would be sealed to an older key than this browser has seen, which may be phished.
    const newest = `desk:portfolio-key:${addresses().own}`
    await noor.evaluate((name) => localStorage.setItem(name, '1800000000'), newest)
    await accept.click()
    await asked.getByText('A newer key was made for this portfolio').waitFor()
    await noor.evaluate((name) => localStorage.removeItem(name), newest)
    await accept.click()
    await asked.waitFor({ state: 'detached' })
    const accepted = noor.locator('[data-test=move-accepted]')
    await accepted.getByText(/The platform’s owner has not approved it yet\.$/).waitFor()
    await expectFit(noor)
    expect(await noor.locator('[data-test=move]').count()).toBe(0)
    await noor.context().close()
    const otto = await operator()
    await otto.getByRole('button', { name: `Approve the move of ${name}` }).click()
    const question = otto.locator('[data-test=move-question]')
    for (const address of Object.values(addresses())) await question.getByText(address).waitFor()
    await expectFit(otto)
    await question.getByRole('button', { name: 'Yes, approve' }).click()
    await moves(otto).getByText('It is approved, and can be carried out from').waitFor()
    expect(await otto.getByRole('button', { name: /^Approve/ }).count()).toBe(0)
    await expectFit(otto)
  })

  it('stands first on every screen of the wallet that it concerns, which objects by the keyboard', async () => {
    const page = await visitAs(name)
    const notice = page.locator('[data-test=move]')
    await notice.getByText(addresses().own).waitFor()
    await notice.getByText('It is approved, and can be carried out from').waitFor()
    expect(await page.locator('main > :first-child').getAttribute('data-test')).toBe('move')
    await goTo(page, 'Institution')
    await notice.waitFor()
    await expectFit(page)
    await goTo(page, 'Desk')
    await tabTo(page, notice.getByRole('button', { name: /^Object/ }))
    await page.keyboard.press('Enter')
    await page.getByText('You have objected. The portfolio stays with this wallet.').waitFor()
    expect(await notice.count()).toBe(0)
    await page.context().close()
    const dana = await visitAs('Dana')
    await goTo(dana, 'Institution')
    await dana.getByText('No move is proposed.').waitFor()
    const ended = dana.locator('[data-test=ended-moves]')
    await ended.getByText(/^Ended: /).click()
    await ended
      .getByRole('listitem')
      .filter({ hasText: name })
      .getByText('the lost wallet objected.')
      .waitFor()
    await expectFit(dana)
  })
})
