// Two runs of one account at once, of which neither knows: a server lost its DATA_DIR while a run was under way, and
// started another. The second begins after any call of the first.
import { describe, expect, it } from 'vitest'
import type { OpenedOrder } from './support/parties.js'
import { sabotage } from './support/saboteur.js'
import { createSample } from './support/sample.js'
import { buy, sell } from './support/scenarios.js'
import { expectOneEnd, resume, type Scenario, setStage } from './support/stage.js'
import { useWorld, type World } from './support/world.js'

const world = useWorld()

interface TwoRuns extends Scenario {
  /** Changes something when the second run begins, so that it decides otherwise than the first. */
  whenSecondBegins?(world: World, order: OpenedOrder): Promise<unknown>
}

const loseKyc = (w: World) => w.chain.send('owner', 'token', 'setKyc', w.chain.account('alice'), false)

/** Two sends are lost on their way, so that the first run is about to send again for seconds. */
const loseSends: Scenario['broker'] = (broker) =>
  broker.control.fault({ method: 'POST', path: '/v2/orders', times: 2, respond: { status: 504, body: {} } })

async function arrangeSale(w: World) {
  await w.settled(buy(1_000))
  return w.open(sell(400))
}

const scenarios: Record<string, TwoRuns> = {
  'a buy': { arrange: (w) => w.open(buy(250)), broker: loseSends, outcome: 'settled' },
  'a buy that the second run refuses': {
    arrange: (w) => w.open(buy(250)),
    broker: loseSends,
    whenSecondBegins: loseKyc,
    outcome: 'refunded',
  },
  'a sale that the second run refuses': {
    arrange: arrangeSale,
    broker: loseSends,
    whenSecondBegins: loseKyc,
    outcome: 'refunded',
  },
  'a buy whose deadline passes': {
    arrange: (w) => w.open(buy(250)),
    broker: loseSends,
    whenSecondBegins: (w, { deadline }) => w.chain.mineAt(deadline + 1),
    outcome: 'refunded',
  },
  'a buy that its account cancels': {
    arrange: (w) => w.open(buy(250)),
    broker: loseSends,
    whenSecondBegins: (w, order) => w.cancel(order),
    outcome: 'refunded',
  },
}

interface Interleaving {
  /** The call of the first run after which the second begins. */
  at: number
  /** Where the second lets the first go on for a step: before one of its own calls, or during its wait. */
  until: number | 'wait'
}

/**
 * Plays both. The first run's step lasts from a look at the chain to the answer of its next call, which takes less than
 * the second one's wait. After it the second goes on to its end, then the first.
 * @returns both runs' calls
 */
async function playBoth(
  w: World,
  order: OpenedOrder,
  { at, until }: Interleaving,
  begin: () => Promise<unknown>,
) {
  const [pauses, stepIsOver] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const pause = async () => {
    pauses.resolve()
    await stepIsOver.promise
  }
  const clock = {
    now: w.clock.now,
    async sleep(ms: number) {
      if (until === 'wait' && ms === w.deps().timings.absentAgainMs) await pause()
      await w.clock.sleep(ms)
    },
  }
  const second = sabotage({ ...w.deps(), clock }, -1, 'crash', async (call) => {
    if (call === until) await pause()
  })
  let secondEnds: Promise<unknown> | undefined
  const first = sabotage(
    w.deps(),
    -1,
    'crash',
    async (call) => {
      if (!secondEnds || call === at + 1 || first.calls[call - 1] === 'chain') return
      stepIsOver.resolve()
      await secondEnds
    },
    async (call) => {
      if (call !== at) return
      await begin()
      secondEnds = w.run(order, { envelope: null, ...second })
      await Promise.race([pauses.promise, secondEnds])
    },
  )
  await w.run(order, first)
  stepIsOver.resolve()
  await secondEnds
  return { first: first.calls, second: second.calls }
}

describe.each(Object.entries(scenarios))('%s', (name, scenario) => {
  const sample = createSample(`besides, ${name}`)

  it('ends once, whenever the second run begins and the first goes on', { timeout: 300_000 }, async () => {
    const { order, perform } = await setStage(world(), scenario)
    const play = (at: number, until: Interleaving['until']) =>
      perform(async (w) => {
        const calls = await playBoth(w, order, { at, until }, async () =>
          scenario.whenSecondBegins?.(w, order),
        )
        await w.checkInvariants()
        await resume(w, order)
        await expectOneEnd(w, order)
        return calls
      })
    const { first } = await play(-1, 'wait')
    for (const [at, call] of first.entries()) {
      const point = `after call ${at}, ${call}`
      // A look at the chain follows: before it the second run may be anywhere.
      const isAnywhere = call.startsWith('broker') && first[at + 1] === 'chain'
      if (!isAnywhere && !sample.isPlayed(point)) continue
      const { second } = await sample.naming(point, () => play(at, 'wait'))
      for (const [until, next] of isAnywhere ? second.entries() : []) {
        const between = `${point}, before call ${until}, ${next}`
        if ((next !== 'chain' || second[until - 1] !== 'chain') && sample.isPlayed(between))
          await sample.naming(between, () => play(at, until))
      }
    }
  })
})

it('an order is not sent on the word of a node that took its time', async () => {
  const order = await world().open(buy(250))
  const slow = sabotage(world().deps(), -1, 'crash', async (call) => {
    // The look at the chain right before the send, the last one after the question whether the symbol is halted.
    const asked = slow.calls.filter((name) => name === 'broker getBookedEntries').length
    if (slow.calls[call - 4] === 'broker getBookedEntries' && asked === 2) {
      await world().clock.sleep(6_000)
    }
  })
  expect(await world().run(order, slow)).toEqual({ outcome: 'failed', code: 'chain-unavailable' })
  expect(world().broker.control.orders()).toEqual([])
  expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
})
