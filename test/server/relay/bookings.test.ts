// The gas that is booked is that of the held orders, whatever becomes of the servers in between.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Authorization } from '../../../src/protocol/authorization.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { type Postgres, startPostgres } from '../../../src/sandbox/postgres.js'
import { createReceiptStore } from '../../../src/server/store/receipts.js'
import {
  afterWrites,
  digestOf,
  grantedOrder,
  portfolioUpdate,
  settlement,
} from '../../support/authorizations.js'
import { createLogLines } from '../../support/logLines.js'
import { REPEAT, SEED } from '../../support/seed.js'
import { storedGas } from '../../support/storedGas.js'
import { useMintChain } from './mint.js'
import { openShared, type ServerUnderTest, startServerUnderTest } from './serversUnderTest.js'

const { chain } = useMintChain()

let postgres: Postgres
beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres.remove())

const ORDERS = 6
const ROUNDS = [0, 1, 2]

const step = fc.record({
  order: fc.nat(ORDERS - 1),
  server: fc.nat(1),
  /** The answer comes once the transaction is mined, or at once. */
  waits: fc.boolean(),
  fault: fc.option(
    fc.record({
      kind: fc.constantFrom('die before', 'die after', 'lose the answer'),
      afterWrites: fc.nat(6),
    }),
  ),
})
const story = fc.record({
  /** Whether the order's hold is followed by a mark as never placed. */
  marks: fc.array(fc.boolean(), { minLength: ORDERS, maxLength: ORDERS }),
  steps: fc.array(step, { minLength: 20, maxLength: 20 }),
})

/** Each authorization of an order, from the one that begins to hold it to the one that ends it. */
function lifeOf(account: Hex, hasMark: boolean): [Authorization, ...Authorization[]] {
  const order = grantedOrder(account)
  const hold = portfolioUpdate(order)
  if (!hasMark) return [hold, settlement(order, afterWrites(1n))]
  return [hold, portfolioUpdate(order, afterWrites(1n)), settlement(order, afterWrites(2n))]
}

test.each(ROUNDS)(
  'two servers with random kills book the gas of the held orders, and no other (%#)',
  async (round) => {
    const [told] = fc.sample(story, { numRuns: 1, seed: (SEED + round) % 2 ** 31 })
    if (told === undefined) throw new Error('no story')
    const url = await postgres.createDatabase()
    const watcher = await openShared(url)
    const store = createReceiptStore({ engine: watcher, logger: createLogLines().logger })
    const lives = told.marks.map((hasMark, index) => {
      const account = chain().anvil.accounts[index]?.address
      if (account === undefined) throw new Error('the chain has too few accounts')
      return lifeOf(account, hasMark)
    })
    const isConfirmed = async (authorization: Authorization) =>
      (await store.get(digestOf(chain(), authorization)))?.receipt.status === 'confirmed'

    let started = 0
    const startOne = () => startServerUnderTest({ chain: chain(), url, serverId: `server ${started++}` })
    const servers: ServerUnderTest[] = [await startOne(), await startOne()]
    async function living(index: number): Promise<ServerUnderTest> {
      const server = servers[index]
      if (server !== undefined && !server.isDead()) return server
      const next = await startOne()
      servers[index] = next
      return next
    }

    for (const { order, server, waits, fault } of told.steps) {
      const used = await living(server)
      if (fault !== null) used.disturb(fault)
      for (const authorization of lives[order] ?? []) {
        if (await isConfirmed(authorization)) continue
        await used.relay
          .relay(authorization, waits ? { Prefer: 'wait=3' } : { Prefer: 'wait=0' })
          .catch(() => undefined)
        break
      }
    }

    // Whatever was under way ends, on the servers that are left and on one that joins.
    const last = await startOne()
    await expect.poll(async () => (await store.unfinished()).length, { timeout: 60_000 }).toBe(0)
    const held = await Promise.all(
      lives.map(async ([hold, ...later]) => {
        const isHeld = (await isConfirmed(hold)) && !(await isConfirmed(later.at(-1) ?? hold))
        const isMarked = later.length > 1 && (await isConfirmed(later[0] ?? hold))
        return isHeld ? [{ by: digestOf(chain(), hold), isMarked }] : []
      }),
    )
    const bookings = async () => {
      const count = await storedGas(async (id) => (await watcher.get('state', id))?.doc)
      return (count?.held ?? [])
        .map(({ by, mark }) => ({ by, isMarked: mark === 0n }))
        .toSorted((a, b) => (a.by < b.by ? -1 : 1))
    }
    await expect
      .poll(bookings, { timeout: 30_000, message: REPEAT })
      .toEqual(held.flat().toSorted((a, b) => (a.by < b.by ? -1 : 1)))
    const count = await storedGas(async (id) => (await watcher.get('state', id))?.doc)
    const sum = (count?.held ?? []).reduce((all, { gas, mark }) => all + gas + mark, 0n)
    expect((await last.relay.health()).booked, REPEAT).toBe(sum)
  },
  180_000,
)
