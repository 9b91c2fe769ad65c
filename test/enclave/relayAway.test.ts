// A run whose relay does not answer can have no effect, so it costs the broker no request.
import { expect, it } from 'vitest'
import { createRelay } from '../../src/enclave/relay.js'
import { bytesToHex } from '../../src/protocol/hex.js'
import type { RunResult } from '../../src/protocol/job.js'
import { entryHash } from '../../src/protocol/resolution.js'
import { CLOSED_URL, startRawServer } from '../support/rawServer.js'
import type { OpenedOrder } from './support/parties.js'
import { buy } from './support/scenarios.js'
import { useWorld, type World } from './support/world.js'

const world = useWorld()

type Deps = NonNullable<Parameters<World['reconcile']>[0]>
const relayAt = (url: string): Deps => ({
  deps: { relay: createRelay({ url, token: 'a-token', timeoutMs: 20_000 }) },
})

/** Prepares a job; the function runs it. */
type Prepare = (w: World) => Promise<(options: Deps) => Promise<RunResult>>
const ordering =
  (prepare: (w: World) => Promise<OpenedOrder>): Prepare =>
  async (w) => {
    const order = await prepare(w)
    return (options) => w.run(order, options)
  }

it.each<[string, Prepare]>([
  ['a new buy', ordering((w) => w.open(buy(250)))],
  ['an order that is live at the broker', ordering((w) => w.live(buy(250)))],
  [
    'an order that the chain does not know',
    ordering(async (w) => {
      const order = await w.open(buy(250))
      return { ...order, orderId: bytesToHex(Buffer.alloc(32, 9)) }
    }),
  ],
  ['a reconciliation', async (w) => (options) => w.reconcile(options)],
  [
    'a resolution',
    async (w) => {
      const { orderId } = await w.live(buy(250))
      const entry = (await w.portfolio('alice'))?.openOrders[orderId]
      if (!entry) throw new Error('the order is not written ahead')
      const figures = { entryHash: entryHash(orderId, entry), quantity: 0n, value: 0n }
      return (options) => w.resolve({ resolves: 'order', v: 1, orderId, ...figures }, options)
    },
  ],
])('%s asks the broker for nothing while the relay is away, or refuses the token', async (_what, prepare) => {
  const run = await prepare(world())
  const { control } = world().broker
  const seen = control.requests().length
  expect(await run(relayAt(CLOSED_URL))).toEqual({ outcome: 'failed', code: 'relay-unavailable' })
  const refused = { outcome: 'failed', code: 'relay-refused' }
  const stranger = await startRawServer((_req, res) => void res.writeHead(401).end())
  expect(await run(relayAt(stranger))).toEqual(refused)
  expect(control.requests()).toHaveLength(seen)
  expect(await run({})).not.toMatchObject({ code: 'relay-unavailable' })
  expect(control.requests().length).toBeGreaterThan(seen)
})
