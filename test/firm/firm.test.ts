// A day of a firm on the platform as it is shipped: three servers on PostgreSQL behind one address, one enclave, one broker account.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { findDisagreements } from '../e2e/support/invariants.js'
import { startWorld, type World } from '../faults/world.js'
import { SEED } from '../support/seed.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { buyOrSale, countOf, createDay, someBuy } from './day.js'
import { hire, split, statementFaults } from './firm.js'

/** A night has `EMPLOYEES=10000`. */
const EMPLOYEES = Number(process.env.EMPLOYEES ?? 1_000)
const MOST_IN_THE_AFTERNOON = 1_000
/** Employees who make their statement at night. */
const STATEMENTS = 50
const MINUTE_MS = 60_000
/** The broker's, for each of its accounts. A firm of more employees has agreed on more with it. */
const REQUESTS_PER_MINUTE = EMPLOYEES > 1_000 ? 1_000 : 200
/** A night at 100 orders a minute, and as much for what goes wrong. */
const TIMEOUT_MS = MINUTE_MS * (10 + EMPLOYEES / 25)

/** A server, the enclave and the database die once each, while the first minute's orders are under way. All of them buy. */
async function killEach({ servers, database, enclave }: World): Promise<void> {
  await sleep(MINUTE_MS / 6)
  await servers[0]?.program.kill()
  await sleep(MINUTE_MS / 6)
  await enclave?.kill()
  await sleep(MINUTE_MS / 6)
  await database?.crash(3_000)
}

/** Dies in the middle of the afternoon's minute, with buys and sales of one symbol under way and in turn. */
async function killEnclave({ enclave }: World): Promise<void> {
  await sleep(MINUTE_MS / 2)
  await enclave?.kill()
}

it('a firm’s day loses nothing and doubles nothing, and its sums agree with the broker to the cent', {
  timeout: TIMEOUT_MS,
}, async () => {
  const directory = await temporaryDirectory()
  const world = await startWorld({ directory, servers: 3, isShipped: true })
  onTestFinished(() => world.stop())
  const { sandbox } = world
  const employees = await hire(world, EMPLOYEES)
  const day = await createDay(world, SEED)
  onTestFinished(() => day.stop())
  sandbox.broker.limit({ perMinute: REQUESTS_PER_MINUTE })

  const report = (part: string, of: object) => process.stdout.write(`${part}: ${JSON.stringify(of)}\n`)
  const [opening] = await Promise.all([day.round(employees, someBuy, MINUTE_MS), killEach(world)])
  report('opening', opening)
  await split(sandbox, 'AAPL', 2n)
  const some = employees.slice(0, MOST_IN_THE_AFTERNOON)
  const [afternoon] = await Promise.all([day.round(some, buyOrSale, MINUTE_MS), killEnclave(world)])
  report('afternoon', afternoon)
  report('refused before they were taken', countOf(day.refusals))

  expect([opening.settled, afternoon.settled]).toEqual([EMPLOYEES, some.length])
  for (const { orders, refusedPlacements } of [opening, afternoon])
    expect(refusedPlacements).toBeLessThanOrEqual(orders / 100)
  // The node keeps the states of its last blocks alone, and the sums of thousands of orders take longer than those.
  const wallets = employees.map(({ account }) => account.address)
  expect(await world.chain.between(() => findDisagreements({ sandbox, wallets }))).toEqual([])
  expect([...(await world.notes.overlaps()), ...world.faults()]).toEqual([])
  for (const employee of employees.slice(0, STATEMENTS)) expect(await statementFaults(employee)).toEqual([])
  const placed = sandbox.broker.orders().filter(({ account }) => account === 'enclave')
  expect(placed).toHaveLength(EMPLOYEES + some.length)
})
