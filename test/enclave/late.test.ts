// A run dies, and what it signed takes effect only while a later run is under way, before any of its calls.
import { describe, it } from 'vitest'
import { posting } from './support/chainRelay.js'
import type { OpenedOrder } from './support/parties.js'
import { sabotage } from './support/saboteur.js'
import { createSample } from './support/sample.js'
import { buy } from './support/scenarios.js'
import { expectOneEnd, resume, type Scenario, setStage } from './support/stage.js'
import { useWorld, type World } from './support/world.js'

const world = useWorld()
const DAY = 86_400

interface LateScenario extends Scenario {
  /** Changes something between the two runs, so that the second decides otherwise than the first. */
  betweenRuns?(world: World, order: OpenedOrder): Promise<unknown>
}

const setKyc = (verified: boolean) => (w: World) =>
  w.chain.send('owner', 'token', 'setKyc', w.chain.account('alice'), verified)

/** Written ahead while the market was closed, and refused when it opened. */
async function refusedWhenOpened(w: World, order: Parameters<World['run']>[0]) {
  await w.run(order)
  w.broker.control.clock({ open: true })
  await setKyc(false)(w)
}

const scenarios: Record<string, LateScenario> = {
  'a buy': { arrange: (w) => w.open(buy(250)), outcome: 'settled' },
  'a new buy, refused once and then not': {
    arrange: (w) => w.open(buy(250)),
    begin: async (w) => void (await setKyc(false)(w)),
    betweenRuns: setKyc(true),
    outcome: 'refunded',
  },
  'a queued buy, refused once and then not': {
    arrange: (w) => w.open({ ...buy(250), deadlineIn: 2 * DAY }),
    broker: (broker) => broker.control.clock({ open: false }),
    begin: refusedWhenOpened,
    betweenRuns: setKyc(true),
    outcome: 'refunded',
  },
  'a buy, cancelled after its run died': {
    arrange: (w) => w.open(buy(250)),
    betweenRuns: (w, order) => w.cancel(order),
    outcome: 'refunded',
  },
}

/** Dies with its n-th authorization on its way; returns how many it posted. */
async function dieAfterPost(w: World, order: Parameters<World['run']>[0], post: number): Promise<number> {
  w.relay.faults.push(...Array<'pass'>(post).fill('pass'), 'withhold')
  let posts = 0
  const relay = posting(w.relay, (send) => async (authorization) => {
    if (posts > post) throw new Error('the process is dead')
    posts++
    return send(authorization)
  })
  await w.run(order, { deps: { relay } })
  w.relay.faults.length = 0
  return posts
}

/** Calls that the chain affects, or that affect it: landing before another call is landing before the next of these. */
const TOUCHES_CHAIN = /^(chain|relay|broker placeOrder|broker cancelOrder)/

describe.each(Object.entries(scenarios))('%s', (name, scenario) => {
  const sample = createSample(`late, ${name}`)

  it('ends once, whenever what was signed before takes effect', { timeout: 300_000 }, async () => {
    const { order, perform } = await setStage(world(), scenario)

    /** Lets what a dead run posted take effect before a call of the next run, or after it; returns both runs' calls. */
    const play = (post: number, landsAt: number) =>
      perform(async (w) => {
        const posts = await dieAfterPost(w, order, post)
        await scenario.betweenRuns?.(w, order)
        await w.checkInvariants()
        const late = sabotage(w.deps(), -1, 'crash', async (call) => {
          if (call === landsAt) await w.relay.land()
        })
        await w.run(order, late)
        await w.relay.land()
        await w.checkInvariants()
        await resume(w, order)
        await expectOneEnd(w, order)
        return { posts, calls: late.calls }
      })

    for (let post = 0; ; post++) {
      const { posts, calls } = await play(post, -1)
      if (posts <= post) break
      for (const [landsAt, call] of calls.entries()) {
        const point = `post ${post}, before call ${landsAt}, ${call}`
        if (TOUCHES_CHAIN.test(call) && sample.isPlayed(point))
          await sample.naming(point, () => play(post, landsAt))
      }
    }
  })
})
