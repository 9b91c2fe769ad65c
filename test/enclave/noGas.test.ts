// The relay has no gas for an authorization today: the order waits, and nothing is lost or placed. Nor does a run ask the broker for anything
// while the relay is away, as it can have no effect.
import { expect, it } from 'vitest'
import { createRelay } from '../../src/enclave/relay.js'
import { CLOSED_URL, startRawServer } from '../support/rawServer.js'
import { posting } from './support/chainRelay.js'
import { rulesFor, sealRulebook } from './support/parties.js'
import { buy } from './support/scenarios.js'
import { useWorld, type World } from './support/world.js'

const world = useWorld()

const HOUR = 3_600
const noGas = (seconds: number) => ({ kind: 'postponed', code: 'relay-quota-exhausted', seconds }) as const

it('an order waits while the relay has no gas, and goes on later', async () => {
  const order = await world().open(buy(250))
  world().relay.faults.push(noGas(HOUR))
  const now = Math.floor(world().clock.now() / 1_000)
  const { retryAt, ...result } = await world().run(order)
  expect(result).toEqual({ outcome: 'queued', code: 'relay-quota-exhausted' })
  expect((retryAt ?? 0) - now).toBeGreaterThanOrEqual(HOUR)
  expect((retryAt ?? 0) - now).toBeLessThan(HOUR + 60)
  expect(world().relay.posted).toHaveLength(1)
  expect(world().broker.control.orders()).toEqual([])
  expect(await world().state(order)).toBe('OPEN')
  expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
  await world().checkInvariants()
})

it.each([
  ['after an hour, though the relay says ten', 10 * HOUR, HOUR],
  ['when the relay says, where that is sooner', 90, 90],
  ['not at once, whatever the relay says', 0, 5],
])('an order that has no gas runs again %s', async (_, seconds, expected) => {
  const order = await world().open(buy(250))
  const now = Math.floor(world().clock.now() / 1_000)
  world().relay.faults.push(noGas(seconds))
  const { retryAt } = await world().run(order)
  expect((retryAt ?? 0) - now).toBeGreaterThanOrEqual(expected)
  expect((retryAt ?? 0) - now).toBeLessThan(expected + 60)
})

it('a refund waits for gas too, and what it would tell is kept', async () => {
  const order = await world().open({ ...buy(250), symbol: 'NONE' })
  world().relay.faults.push(noGas(HOUR))
  expect(await world().run(order)).toMatchObject({ outcome: 'queued', code: 'relay-quota-exhausted' })
  expect(world().reports.at(-1)).toMatchObject({ outcome: 'failed', notice: expect.anything() })
  expect(await world().run(order)).toMatchObject({ outcome: 'refunded' })
})

it('an authorization that has taken effect is not waited for', async () => {
  const order = await world().open(buy(250))
  const relay = posting(world().relay, (post) => async (sent) => {
    await post(sent)
    return noGas(HOUR)
  })
  expect(await world().run(order, { deps: { relay } })).toMatchObject({ outcome: 'settled' })
})

it('a rulebook’s run says when it may be posted again', async () => {
  const now = Math.floor(world().clock.now() / 1_000)
  world().relay.faults.push(noGas(HOUR))
  const rulebook = await sealRulebook(world().chain, rulesFor(world().chain), 2)
  const result = await world().policy(rulebook)
  expect(result).toMatchObject({ outcome: 'failed', code: 'relay-quota-exhausted' })
  expect(result.retryAt).toBeGreaterThanOrEqual(now + HOUR)
})

type Options = NonNullable<Parameters<World['reconcile']>[0]>
const relayAt = (url: string): Options => ({
  deps: { relay: createRelay({ url, token: 'a-token', timeoutMs: 20_000 }) },
})

it.each(['a new buy', 'an order that is live', 'a reconciliation'])(
  '%s asks the broker for nothing while the relay is away, or refuses the token',
  async (what) => {
    const { broker, open, live, reconcile, run } = world()
    const order = await (what === 'an order that is live' ? live(buy(250)) : open(buy(250)))
    const begin = (options: Options) =>
      what === 'a reconciliation' ? reconcile(options) : run(order, options)
    const seen = broker.control.requests().length
    const stranger = await startRawServer((_req, res) => void res.writeHead(401).end())
    expect(await begin(relayAt(CLOSED_URL))).toEqual({ outcome: 'failed', code: 'relay-unavailable' })
    expect(await begin(relayAt(stranger))).toEqual({ outcome: 'failed', code: 'relay-refused' })
    expect(broker.control.requests()).toHaveLength(seen)
    expect(await begin({})).not.toMatchObject({ code: 'relay-unavailable' })
    expect(broker.control.requests().length).toBeGreaterThan(seen)
  },
)
