// What a person reads on a phone when something is away: one sentence with the next step. Lists: lists.test.ts; another chain: wallets.test.ts.
import type { Page, Route } from 'playwright-core'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { clientOf } from '../../src/sandbox/demo.js'
import { expectFit } from './support/accessibility.js'
import { goTo, newestOrder, order, seeNow, useBrowserDesk } from './support/desk.js'
import { screenshot } from './support/screenshot.js'

const desk = useBrowserDesk()
const PHONE = { viewport: { width: 390, height: 844 } }

/** A page on a phone, whose requests to the node or the server are answered otherwise once the person is in. */
async function without(
  part: 'rpcUrl' | 'url',
  answer: (route: Route) => unknown,
  name = 'Ada',
): Promise<Page> {
  const page = await desk().visitAs(name, PHONE)
  await page.getByRole('heading', { name: 'Market', exact: true }).waitFor()
  const { origin } = new URL(desk().sandbox.info[part])
  await page.route((url) => url.origin === origin, answer)
  return page
}

const refuse = (route: Route) => route.abort()
const tooLate = (route: Route) => route.fulfill({ status: 504 })

const CHAIN = ['Desk', 'Operator'] as const
const ALL = ['Desk', 'Institution', 'Operator'] as const
it.each([
  ['no node', 'rpcUrl', refuse, CHAIN, 'The chain’s node cannot be reached', 'This page keeps trying'],
  ['a slow node', 'rpcUrl', tooLate, CHAIN, 'The chain’s node is slow', 'This page asks for less at a time'],
  ['no server', 'url', refuse, ALL, 'The server does not answer', 'This page keeps trying. Orders that'],
] as const)('%s is told once on each screen, with what comes next', async (...failure) => {
  const [what, part, answer, places, title, next] = failure
  const page = await without(part, answer)
  const alerts = page.getByRole('alert').filter({ hasText: title })
  for (const place of places) {
    await goTo(page, place)
    await seeNow(page, alerts.first())
    expect(await alerts.allInnerTexts(), place).toEqual([expect.stringContaining(next)])
    await screenshot(page, `failure-${what.replaceAll(' ', '-')}-${place}`)
    await expectFit(page)
  }
})

it('an order that no enclave answers says that the server tries again, and when', async () => {
  const page = await without('url', async (route) => {
    if (!/\/orders\/0x[0-9a-f]{64}$/.test(route.request().url())) return route.fallback()
    const response = await route.fetch()
    if (response.status() !== 200) return route.fulfill({ response })
    const status = z.looseObject({}).parse(await response.json())
    const at = new Date().toISOString()
    const failed = { attempt: 1, reason: 'received', startedAt: at, finishedAt: at, outcome: 'failed' }
    const nextTriggerAt = new Date(Date.now() + 60_000).toISOString()
    const away = { state: 'OPEN', notice: null, triggers: [failed], nextTriggerAt }
    return route.fulfill({ json: { ...status, ...away } })
  })
  await order(page, 'Buy', 'AAPL', '40')
  const card = page.locator('.order').first()
  await card
    .getByText(/^The enclave did not answer, .* the server tries again at .*, and you need do nothing\.$/)
    .waitFor()
  await card.getByText('Trying again').waitFor()
  await card.scrollIntoViewIfNeeded()
  await screenshot(page, 'failure-no-enclave')
  await expectFit(page)
})

it('a member who is removed while her order waits keeps her orders and her portfolio, and reads what she can do', async () => {
  const { sandbox } = desk()
  const [, ben] = sandbox.accounts.employees
  const page = await without('url', (route) => route.fallback(), 'Ben')
  sandbox.broker.clock({ open: false, nextOpen: new Date(Date.now() + 3_600_000).toISOString() })
  await order(page, 'Buy', 'AAPL', '60')
  await page.locator('.order').first().getByText('Waiting for the market', { exact: true }).waitFor()
  await clientOf(sandbox, sandbox.accounts.admin).removeMember(ben.address)
  const told = page.locator('[data-test=former]')
  await seeNow(page, told)
  expect(await told.innerText()).toContain('sell, withdraw or cancel below, and ask an admin to invite it')
  await page.getByRole('button', { name: 'Join an institution to buy' }).waitFor()
  await screenshot(page, 'failure-removed')
  await expectFit(page)
  sandbox.broker.clock({ open: true })
  const card = await newestOrder(page, 'REFUNDED')
  await card.getByText('Only a member of an institution can buy or deposit USDC.').waitFor()
})
