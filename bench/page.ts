import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import * as z from 'zod'
import { bytesToHex, type Hex, uintToBytes } from '../src/protocol/hex.js'
import { nameToBytes32 } from '../src/protocol/identifiers.js'
import { type Sandbox, startSandbox } from '../src/sandbox/sandbox.js'
import { EQUITIES, INSTITUTION } from '../src/sandbox/settings.js'
import { useChromium, VIEWPORT } from '../test/browser/support/browser.js'
import { bar, type Cells, type Figure } from './support/figure.js'
import { joinings, logEvents, openings } from './support/loggedPast.js'
import { newOrderIds } from './support/orders.js'
import { makeDirectory } from './support/platform.js'

const [MEMBERS, ORDERS] = [10_000, 100_000]
const [ROWS_MS, FRAME_MS] = [2_000, 50]
const PER_BLOCK = { members: 250, orders: 1_000 }
/** After each block of the newest orders: the page reads 2,000 blocks first, and finds no member in them. */
const EMPTY_BLOCKS = 40
const STEP_MS = 600_000

export const page: Figure = {
  name: 'page',
  title: `The institution's page: ${MEMBERS} members and ${ORDERS} orders`,
  async prepare(context) {
    const browser = await useChromium()
    context.cleanUp.defer(() => browser.close())
    const sandbox = await startSandbox({
      directory: await makeDirectory(context, 'page'),
      ports: { server: 0, rpc: 0, broker: 0, desk: 0 },
      print: () => undefined,
    })
    context.cleanUp.defer(sandbox.stop)
    const wallets = Array.from({ length: MEMBERS }, (_, at) => addressAt(at))
    await fillChain(sandbox, wallets)
    const url = `${sandbox.info.deskUrl}#/institution`
    // Content in place of a file would travel to the page by the debugger, as a task of its thread.
    const csv = join(sandbox.directory, 'employees.csv')
    await writeFile(csv, csvOf(wallets))

    async function measure(): Promise<Story> {
      const visitor = await browser.newContext({ viewport: VIEWPORT })
      visitor.setDefaultTimeout(STEP_MS)
      await visitor.addInitScript(WATCH)
      try {
        return await storyOf(await visitor.newPage(), url, csv)
      } finally {
        await visitor.close()
      }
    }
    /** All rows of a round come from one story. */
    const stories = new Map<number, Promise<Story>>()
    const rowOf = (name: string) => async (round: number) => {
      const story = stories.get(round) ?? measure()
      stories.set(round, story)
      return (await story)[name] ?? {}
    }
    return {
      rows: Object.fromEntries(STEPS.map((name) => [name, rowOf(name)])),
      bars: [
        ...VISITS.map((name) => bar('first rows ms', name, { atMost: ROWS_MS })),
        ...STEPS.map((name) => bar('most CPU ms of a task', name, { atMost: FRAME_MS })),
      ],
      notes: [
        'other code in place of the contracts logged the events: no member has a key, no order an escrow',
      ],
    }
  },
}

const addressAt = (at: number): Hex => bytesToHex(uintToBytes(0xa11ce_0000n + BigInt(at), 20))

async function fillChain({ provider, info, accounts }: Sandbox, wallets: readonly Hex[]): Promise<void> {
  const from = accounts.owner.address
  const orders = openings(newOrderIds(ORDERS), [...wallets, accounts.admin.address])
  const escrow = { contract: info.contracts.orderEscrow, from }
  const registry = { contract: info.contracts.institutionRegistry, from }
  const half = ORDERS / 2
  await logEvents(provider, escrow, orders.slice(0, half), { perBlock: PER_BLOCK.orders })
  const joined = joinings(nameToBytes32(INSTITUTION), wallets)
  await logEvents(provider, registry, joined, { perBlock: PER_BLOCK.members })
  const newest = { perBlock: PER_BLOCK.orders, emptyBlocks: EMPTY_BLOCKS }
  await logEvents(provider, escrow, orders.slice(half), newest)
}

/** A file in which every employee differs from the default. */
function csvOf(wallets: readonly Hex[]): string {
  const lines = wallets.map((wallet, at) => {
    const restricted = [0, 1, 2].map((next) => EQUITIES[(at + next) % EQUITIES.length]?.symbol)
    return `${wallet},Employee ${at},${at % 2 === 0 ? 'yes' : 'no'},yes,${restricted.join(' ')}`
  })
  return ['wallet,name,buy,sell,restricted', ...lines].join('\r\n')
}

const VISITS = ['a first visit', 'a later visit']
const STEPS = [...VISITS, 'import of a file', 'search', 'publication', 'change of a rule']
type Story = Readonly<Record<string, Cells>>

/** An admin's way through the page, and what each step took. @param csv the path of a file */
async function storyOf(page: Page, url: string, csv: string): Promise<Story> {
  const visit = (go: () => Promise<unknown>) =>
    measured(page, async (note) => {
      await go()
      await page.locator('table.people tbody tr:nth-child(10)').waitFor()
      note('first rows ms')
      // Until then the form lists no employee.
      await page.locator('#employees-search').waitFor()
    })
  const press = (name: RegExp) => page.getByRole('button', { name }).click()
  const compared = () => page.locator('form button[type=submit].primary:enabled').waitFor()
  await page.goto(url)
  await page.locator('.account, main button').first().waitFor()
  const first = await visit(() => press(/^Dana\b/))
  const later = await visit(() => page.reload())
  await page.locator('details.import summary').first().click()
  await page.locator('#max-order').fill('25000')
  const imported = await measured(page, async () => {
    await page.locator('#employee-file').setInputFiles(csv)
    await page.locator('[data-test=imported]').waitFor()
    await compared()
  })
  const box = page.locator('table.rules tbody tr:nth-child(1) input').first()
  const searched = await measured(page, async () => {
    await page.locator('#employees-search').pressSequentially(`Employee ${MEMBERS - 1}`)
    await page.locator(`table.rules tbody input[aria-label="Employee ${MEMBERS - 1} may buy"]`).waitFor()
  })
  const published = await measured(page, async () => {
    await press(/^Publish version/)
    await page.locator('form + .box-good').waitFor()
  })
  const changed = await measured(page, async () => {
    await box.click()
    await compared()
  })
  const cells = [first, later, imported, searched, published, changed]
  return Object.fromEntries(STEPS.map((name, at) => [name, cells[at] ?? {}]))
}

/** The browser notes frames of more than 50 ms. */
const WATCH = `
  const frames = []
  new PerformanceObserver((list) => frames.push(...list.getEntries())).observe({ type: 'long-animation-frame' })
  window.framesFrom = (start) => frames.filter(({ startTime }) => startTime >= start).map(({ duration }) => duration)
`
const numbers = z.array(z.number())
const traceSchema = z.object({
  traceEvents: z.array(
    z.object({
      ...{ name: z.string(), pid: z.int(), tid: z.int(), tdur: z.number().optional() },
      args: z.looseObject({ name: z.unknown().optional() }).optional(),
    }),
  ),
})
/** In which the frame that shows a step's end is over. */
const AFTER = 'new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))'

/**
 * Measures a step, its longest frame by the clock, and the most CPU that a task of the page's thread took: other work on the machine
 * lengthens the one alone.
 */
async function measured(page: Page, act: (note: (column: string) => void) => Promise<unknown>) {
  const browser = page.context().browser()
  const start = z.number().parse(await page.evaluate('performance.now()'))
  await browser?.startTracing(page, { categories: ['toplevel'] })
  const cells: Record<string, number> = {}
  const begun = performance.now()
  const note = (column: string) => {
    cells[column] = performance.now() - begun
  }
  await act(note)
  note('ms')
  await page.evaluate(AFTER)
  const trace = traceSchema.parse(JSON.parse(String(await browser?.stopTracing())))
  const now = z.number().parse(await page.evaluate('performance.now()'))
  const frames = numbers.parse(await page.evaluate(`framesFrom(${now < start ? 0 : start})`))
  return {
    ...cells,
    'longest frame ms': Math.max(0, ...frames),
    'most CPU ms of a task': Math.max(0, ...tasksIn(trace)),
  }
}

/** CPU of each task of the page's main thread, in milliseconds. */
function tasksIn({ traceEvents }: z.output<typeof traceSchema>): number[] {
  const threads = new Set(
    traceEvents.filter(({ args }) => args?.name === 'CrRendererMain').map(({ pid, tid }) => `${pid} ${tid}`),
  )
  return traceEvents.flatMap(({ name, pid, tid, tdur }) =>
    name.endsWith('RunTask') && tdur !== undefined && threads.has(`${pid} ${tid}`) ? [tdur / 1_000] : [],
  )
}
