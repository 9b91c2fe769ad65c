// The gas that is booked is that of the orders written ahead, whatever becomes of the servers in between.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Authorization } from '../../../src/protocol/authorization.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { createReceiptStore } from '../../../src/server/store/receipts.js'
import {
  afterWrites,
  digestOf,
  grantedOrder,
  portfolioUpdate,
  settlement,
} from '../../support/authorizations.js'
import { LENGTH } from '../../support/length.js'
import { createLogLines } from '../../support/logLines.js'
import { type Postgres, startPostgres } from '../../support/postgres.js'
import { REPEAT, SEED } from '../../support/seed.js'
import { gasSums, storedBookings } from '../../support/storedGas.js'
import { useMintChain } from './relayUnderTest.js'
import { openShared, type ServerUnderTest, startServerUnderTest } from './serversUnderTest.js'

const { chain } = useMintChain()

let postgres: Postgres
beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres.remove())

const ORDERS = 8
const ROUNDS = Array.from({ length: LENGTH }, (_, round) => round)

const step = fc.record({
  order: fc.nat(ORDERS - 1),
  server: fc.nat(1),
  /** The answer comes once the transaction is mined, or at once. */
  waits: fc.boolean(),
  /** An enclave that has restarted seals the write-ahead anew. */
  isSealedAnew: fc.boolean(),
  fault: fc.option(
    fc.record({
      kind: fc.constantFrom('die before', 'die after', 'lose the answer'),
      afterWrites: fc.nat(6),
    }),
  ),
})
const story = fc.record({
  orders: fc.array(fc.constantFrom('marked', 'unmarked', 'sealed anew'), {
    minLength: ORDERS,
    maxLength: ORDERS,
  }),
  steps: fc.array(step, { minLength: 24, maxLength: 24 }),
})

interface Life {
  /** Each may write the order ahead. */
  readonly holds: readonly [Authorization, ...Authorization[]]
  readonly marks: readonly Authorization[]
  readonly ends: readonly Authorization[]
}

function lifeOf(account: Hex, kind: 'marked' | 'unmarked' | 'sealed anew'): Life {
  const order = grantedOrder(account)
  const hold = portfolioUpdate(order)
  if (kind === 'sealed anew')
    return { holds: [hold, portfolioUpdate(order, { userBlob: '0x01f1' })], marks: [], ends: [] }
  if (kind === 'unmarked') return { holds: [hold], marks: [], ends: [settlement(order, afterWrites(1n))] }
  const marks = [portfolioUpdate(order, afterWrites(1n))]
  return { holds: [hold], marks, ends: [settlement(order, afterWrites(2n))] }
}

test.each(ROUNDS)(
  'two servers with random kills book the gas of the orders written ahead, and no other (%#)',
  async (round) => {
    const [told] = fc.sample(story, { numRuns: 1, seed: (SEED + round) % 2 ** 31 })
    if (told === undefined) throw new Error('no story')
    const url = await postgres.createDatabase()
    const watcher = await openShared(url)
    const store = createReceiptStore({ engine: watcher, logger: createLogLines().logger })
    const lives = told.orders.map((kind, index) => {
      const account = chain().anvil.accounts[index]?.address
      if (account === undefined) throw new Error('the chain has too few accounts')
      return lifeOf(account, kind)
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

    async function nextOf({ holds, marks, ends }: Life, isSealedAnew: boolean) {
      const [hold, again = hold] = holds
      const stages = [isSealedAnew ? again : hold, ...marks, ...ends]
      for (const authorization of stages) if (!(await isConfirmed(authorization))) return authorization
      return undefined
    }

    for (const { order, server, waits, isSealedAnew, fault } of told.steps) {
      const used = await living(server)
      if (fault !== null) used.disturb(fault)
      const life = lives[order]
      const next = life && (await nextOf(life, isSealedAnew))
      const headers = { Prefer: waits ? 'wait=3' : 'wait=0' }
      if (next !== undefined) await used.relay.relay(next, headers).catch(() => undefined)
    }

    // Whatever was under way ends, on the servers that are left and on one that joins.
    const last = await startOne()
    await expect.poll(async () => (await store.unfinished()).length).toBe(0)
    const held = await Promise.all(
      lives.map(async ({ holds, marks, ends }) => {
        const confirmed = async (of: readonly Authorization[]) => {
          const each = await Promise.all(of.map(async (one) => ((await isConfirmed(one)) ? [one] : [])))
          return each.flat()
        }
        const [[begun], [mark], [end]] = [
          await confirmed(holds),
          await confirmed(marks),
          await confirmed(ends),
        ]
        return begun === undefined || end !== undefined ? [] : [digestOf(chain(), mark ?? begun)]
      }),
    )
    // The last write that took effect for an order has its booking.
    const bookings = [...(await storedBookings(watcher)).values()]
    expect(bookings.map(({ by }) => by).toSorted(), REPEAT).toEqual(held.flat().toSorted())
    expect((await last.relay.health()).booked, REPEAT).toBe(
      bookings.reduce((sum, { gas, mark }) => sum + gas + mark, 0n),
    )
    const { stored, added } = await gasSums(watcher)
    // A no-op transaction counts on no holder.
    const noOps = (stored.all?.used ?? 0n) - (added.all?.used ?? 0n)
    expect(noOps, REPEAT).toBeGreaterThanOrEqual(0n)
    expect(stored, REPEAT).toEqual({ ...added, all: { used: stored.all?.used, kept: added.all?.kept } })
  },
  180_000,
)
