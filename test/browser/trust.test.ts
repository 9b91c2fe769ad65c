// Whom the page trusts: an enclave that proves its keys, and what it says where the proof fails, is another one or is to change.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AbiCoder, id } from 'ethers'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { enclaveKeySchema } from '../../src/protocol/enclaveKey.js'
import { eventually } from '../support/eventually.js'
import { expectFit } from './support/accessibility.js'
import { newestOrder, order, SIZES, useBrowserDesk } from './support/desk.js'
import { screenshot } from './support/screenshot.js'

const desk = useBrowserDesk({ keys: 'born' })
const lines = (page: Page) => page.locator('[data-test=trust-lines] dd')

/** The desk of an employee, once the server shows the enclave's evidence. */
async function deskOf(name: string, change: (page: Page) => Promise<unknown> = async () => undefined) {
  const { info } = desk().sandbox
  await eventually('the server shows the evidence', async () => {
    const key = enclaveKeySchema.parse(await (await fetch(`${info.url}/enclave-key`)).json())
    return key.attestation
  })
  const page = await desk().visit('about:blank')
  await change(page)
  await page.goto(desk().url)
  await page.getByRole('button', { name: new RegExp(`^${name}\\b`) }).click()
  await page.locator('.account').waitFor()
  return page
}

const keyWith = (change: (key: z.output<typeof enclaveKeySchema>) => object) => (page: Page) =>
  page.route('**/enclave-key', async (route) => {
    const key = enclaveKeySchema.parse(await (await route.fetch()).json())
    await route.fulfill({
      headers: { 'access-control-allow-origin': '*', 'content-type': 'application/json' },
      body: JSON.stringify({ ...key, ...change(key) }),
    })
  })

it('an employee sees hardware, program, keys and settings, each for itself, before the first order, which then settles', async () => {
  const page = await deskOf('Ada')
  const { brokerUrl } = desk().sandbox.info
  await lines(page).first().waitFor()
  const [hardware, program, keys, settings] = await lines(page).allInnerTexts()
  expect(hardware).toMatch(/^None: a stand-in/)
  expect(program).toMatch(/^Release sandbox, version .*, measured as 0x[0-9a-f]{4}…[0-9a-f]{4}\.$/)
  expect(keys).toMatch(/^Born inside it\. Any 2 of the 3 holders .* is the chain’s\.$/)
  expect(settings).toContain(new URL(brokerUrl).host)
  for (const { name, options } of SIZES) {
    await page.setViewportSize(options.viewport)
    await page.emulateMedia({ colorScheme: 'colorScheme' in options ? options.colorScheme : 'light' })
    await lines(page).last().scrollIntoViewIfNeeded()
    await expectFit(page)
    await screenshot(page, `trust-${name}`)
  }
  await page.getByText('All settings of the program').click()
  await page.locator('[data-test=trust-settings]').getByText('Witness nodes, of another operator').waitFor()
  await expectFit(page)
  await order(page, 'Buy', 'AAPL', '100')
  await newestOrder(page, 'SETTLED')
  await lines(page).first().waitFor({ state: 'hidden' })
  await page.getByText('Hardware, program, keys and settings').click()
  await lines(page).first().waitFor()
})

it('evidence that was altered is refused in words, and nothing is sealed', async () => {
  const page = await deskOf(
    'Ben',
    keyWith(({ attestation }) => ({
      attestation: attestation && {
        ...attestation,
        statement: attestation.statement.replace('"boot":1', '"boot":2'),
      },
    })),
  )
  await page.getByRole('alert').getByText('hardware does not vouch for it').first().waitFor()
  expect(await lines(page).count()).toBe(0)
  await order(page, 'Buy', 'AAPL', '100')
  await page.locator('form').locator('..').getByRole('alert').getByText('Do not order').waitFor()
  await expectFit(page)
  await screenshot(page, 'trust-refused')
})

it('without evidence the page says that nothing proves who would read an order', async () => {
  const page = await deskOf(
    'Ben',
    keyWith(() => ({ attestation: undefined })),
  )
  await page.getByRole('alert').getByText('The server shows no evidence of its enclave').first().waitFor()
})

const callSchema = z.object({ id: z.int(), params: z.array(z.unknown()) })

it('a change that the chain announces is shown with its time, and that its program is not known', async () => {
  const [to, at] = ['0x00000000000000000000000000000000000000aa', Math.floor(Date.now() / 1_000) + 172_800]
  const { rpcUrl } = desk().sandbox.info
  const announced = new Map([
    ['pendingRotation(uint8)', AbiCoder.defaultAbiCoder().encode(['address', 'uint64'], [to, at])],
    ['pendingProgram()', `0x${'ab'.repeat(32)}${'cd'.repeat(32)}`],
  ])
  const page = await deskOf('Ben', (opened) =>
    opened.route(`${rpcUrl}/**`, async (route) => {
      const { data } = callSchema.safeParse(route.request().postDataJSON())
      const call = z.object({ data: z.string() }).safeParse(data?.params[0]).data
      const [, result] = [...announced].find(([name]) => call?.data.startsWith(id(name).slice(0, 10))) ?? []
      if (data === undefined || result === undefined) return route.fallback()
      const headers = { 'access-control-allow-origin': '*' }
      return route.fulfill({ headers, json: { jsonrpc: '2.0', id: data.id, result } })
    }),
  )
  const said = page.locator('[data-test=announced-change]')
  await said.waitFor()
  expect(await said.innerText()).toMatch(
    /^A change is announced\. From .* 0xabab…abab, has not proved itself/,
  )
  await expectFit(page)
  await screenshot(page, 'trust-change')
})

it('the page that is shipped knows no stand-in: it refuses its evidence as one that it cannot judge', async () => {
  const { url } = desk()
  const settings = z
    .looseObject({ testRoot: z.string() })
    .parse(await (await fetch(`${url}/desk.json`)).json())
  const { testRoot: _, ...shipped } = settings
  // The document stays the sandbox's own: a browser lets no other one ask this machine's ports.
  const [, entry = ''] =
    /src="\.\/(assets\/index-[^"]*\.js)"/.exec(await readFile('dist/web/index.html', 'utf8')) ?? []
  const serve = async (page: Page, settingsShown: object) => {
    await page.route(`${url}/desk.json`, (route) => route.fulfill({ json: settingsShown }))
    await page.route(`${url}/assets/*.js`, async (route) => {
      const { pathname } = new URL(route.request().url())
      const file = pathname.startsWith('/assets/index-') ? entry : pathname
      await route.fulfill({ body: await readFile(join('dist/web', file)), contentType: 'text/javascript' })
    })
  }
  const page = await deskOf('Ben', (opened) => serve(opened, shipped))
  await page.getByRole('alert').getByText('This page cannot judge the evidence').first().waitFor()
  await page.context().close()

  const other = await desk().visit('about:blank')
  await serve(other, settings)
  await other.goto(url)
  await other.getByText('The desk is not set up').waitFor()
})
