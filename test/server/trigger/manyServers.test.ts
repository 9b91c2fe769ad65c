// Two servers on one PostgreSQL, before a real chain, with one enclave's door behind both. One of them holds the lease.
import { join } from 'node:path'
import request from 'supertest'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { timelineSchema } from '../../../src/protocol/api.js'
import type { Envelope } from '../../../src/protocol/envelope.js'
import type { Hex } from '../../../src/protocol/hex.js'
import type { RunResult } from '../../../src/protocol/job.js'
import { signRunMessage } from '../../../src/protocol/runMessage.js'
import { useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { handled } from '../../support/handled.js'
import { bytes32, setUpInstitution } from '../../support/institution.js'
import { chainEnvironment, openFor, sealOrder } from '../../support/intakeServer.js'
import { metricsOf } from '../../support/ops.js'
import { type Postgres, startPostgres } from '../../support/postgres.js'
import { startScriptedDoor } from '../../support/scriptedDoor.js'
import { RUN_SECRET } from '../../support/serverEnvironment.js'
import { type ServerProcess, startServerProcess } from '../../support/serverProcess.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const chain = useChain(setUpInstitution)
const STOP_BEFORE_RUN = new URL('./stopBeforeRun.mjs', import.meta.url).href
const PLACED: RunResult = { outcome: 'placed', retryAt: 4_000_000_000 }

let postgres: Postgres
beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres.remove())

/** How often a server has taken, or given up, the trigger's lease. */
function leases({ output }: ServerProcess, what: 'taken' | 'given up'): number {
  return output()
    .split('\n')
    .filter((line) => line.includes(`"lease ${what}"`) && line.includes('"trigger"')).length
}

/** A lease that another server takes soon. */
const SHORT = { LEASE_TTL: '1s' }

/** The second one starts once the first one has the lease. */
async function startTwo(
  bothEnvironment: Record<string, string>,
  firstEnvironment: Record<string, string> = {},
) {
  const door = await startScriptedDoor([202])
  const environment = {
    ...chainEnvironment(chain()),
    ENCLAVE_URL: door.url,
    DATABASE_URL: (await postgres.createDatabase()).reveal(),
    DATA_DIR: join(await temporaryDirectory(), 'data'),
    ...bothEnvironment,
  }
  const holder = await startServerProcess({ ...environment, ...firstEnvironment })
  await eventually('the lease', () => leases(holder, 'taken') === 1)
  const other = await startServerProcess(environment)
  const offersOf = (key: string) => door.offers.filter(({ body }) => (body.orderId ?? body.job) === key)
  return {
    holder,
    other,
    offersOf,
    /** The enclave's word on the only run of an order, or of a kind, to whichever server it reaches. */
    async end(key: string, { url }: ServerProcess, result: RunResult): Promise<void> {
      const runId = String(offersOf(key).at(-1)?.body.runId)
      const body = JSON.stringify(result)
      const answer = await request(url)
        .post(`/runs/${runId}/result`)
        .set({ ...signRunMessage(RUN_SECRET, { kind: 'result', runId, body }) })
        .set('Content-Type', 'application/json')
        .send(body)
      expect(answer.body).toEqual({ runId, result: 'received' })
    },
  }
}

async function post({ url }: ServerProcess, orderId: Hex, envelope: Envelope): Promise<void> {
  const answer = await request(url)
    .post('/orders')
    .send({ orderId, ...envelope })
  expect(answer.status).toBe(202)
}

/** Opens an order and posts it to a server. */
async function place(server: ServerProcess, role: 'alice' | 'bob' | 'carol', orderId: Hex): Promise<void> {
  const envelope = await sealOrder('an order')
  await openFor(chain(), role, orderId, envelope)
  await post(server, orderId, envelope)
}

/** The kinds of an order's timeline, with what its runs came to. */
async function timeline({ url }: ServerProcess, orderId: Hex): Promise<string[]> {
  const { body } = await request(url).get(`/orders/${orderId}/timeline`)
  return timelineSchema
    .parse(body)
    .entries.map((entry) => (entry.kind === 'outcome' ? `${entry.outcome}` : entry.kind))
}

/** A gauge's value; undefined where the server shows none. */
const gauge = async ({ opsUrl }: ServerProcess, name: string) =>
  (await metricsOf(opsUrl)).find(`trading_${name}`)

const [A, B, C] = [bytes32('A'), bytes32('B'), bytes32('C')]

test('orders and a rulebook run wherever they are posted, and end with results that either server receives', async () => {
  const { holder, other, offersOf, end } = await startTwo({})
  const [before, after] = [await sealOrder('before'), await sealOrder('after')]
  await post(other, A, before)
  expect(await gauge(other, 'orders_unopened')).toBe(1)
  await openFor(chain(), 'alice', A, before)
  await openFor(chain(), 'bob', C, after)
  await eventually('the events', async () => (await gauge(holder, 'orders_watched')) === 2)
  await post(other, C, after)
  for (const [orderId, envelope] of [
    [A, before],
    [C, after],
  ] as const) {
    await eventually('its run', () => offersOf(orderId).length === 1)
    expect(offersOf(orderId)[0]?.body.envelope).toEqual(envelope)
  }
  // An order whose escrow was not open when it was first looked for is looked for again minutes later.
  await eventually('room again', async () => Number(await gauge(other, 'orders_unopened')) <= 1)
  expect(await gauge(other, 'orders_watched')).toBeUndefined()
  await place(holder, 'alice', B)
  await end(A, other, PLACED)
  await eventually('the next run of the account', () => offersOf(B).length === 1)
  const entries = ['opened', 'received', 'triggered', 'placed']
  for (const server of [holder, other]) expect((await timeline(server, A)).sort()).toEqual(entries.sort())
  expect(offersOf(A)).toHaveLength(1)

  const answer = handled(
    request(other.url)
      .post('/policy')
      .send(await sealOrder('a rulebook'))
      .then(({ body }) => body.code),
  )
  await eventually('its run', () => offersOf('policy').length === 1)
  await end('policy', holder, { outcome: 'rejected', code: 'wrong-version' })
  expect(await answer).toBe('policy-rejected')
})

describe('another server takes over', () => {
  test('a run whose server was killed: offers it again as the same one, and starts none beside it', async () => {
    const { holder, other, offersOf, end } = await startTwo(SHORT)
    await place(holder, 'alice', A)
    await eventually('its run', () => offersOf(A).length === 1)
    await holder.kill()
    await place(other, 'alice', B)
    await place(other, 'bob', bytes32('of another account'))
    await eventually('the other account', () => offersOf(bytes32('of another account')).length === 1)
    await eventually('the same run', () => offersOf(A).length === 2)
    const [first, again] = offersOf(A)
    expect(again).toEqual(first)
    expect(offersOf(B)).toEqual([])
    await end(A, other, PLACED)
    await eventually('the next run of the account', () => offersOf(B).length === 1)
    expect(await timeline(other, A)).toContain('placed')
    expect(offersOf(A)).toHaveLength(2)
  })

  test('an order whose server stood still before it stored the run, and offers nothing when it wakes up', async () => {
    const { holder, other, offersOf, end } = await startTwo(SHORT, {
      NODE_OPTIONS: `--import ${STOP_BEFORE_RUN}`,
    })
    await place(holder, 'alice', A)
    await eventually('the run of the other server', () => offersOf(A).length === 1)
    await end(A, other, PLACED)
    await eventually('its end', async () => (await timeline(other, A)).includes('placed'))
    holder.resume()
    await eventually('the loss of the lease', () => leases(holder, 'given up') === 1)
    await place(holder, 'bob', B)
    await eventually('a later order', () => offersOf(B).length === 1)
    expect(offersOf(A)).toHaveLength(1)
  })
})
