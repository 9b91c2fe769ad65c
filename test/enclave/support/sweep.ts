// Every run is stopped before each of its calls to the outside, and each call fails in each way. The runs after it must end
// where an undisturbed run ends, and the cash and shares of all accounts together must be covered.
import { describe, expect, it } from 'vitest'
import { type Mishap, sabotage } from './saboteur.js'
import { createSample } from './sample.js'
import { remains, resume, type Scenario, setStage } from './stage.js'
import type { World } from './world.js'

/** Calls with a lasting effect. */
const EFFECTS = /^(relay|report|broker placeOrder|broker cancelOrder)/

/** Whether a mishap at a call is something else than one of the others, or than one at another call. */
function applies(mishap: Mishap, calls: string[], at: number, everyCall: boolean): boolean {
  const call = calls[at] ?? 'the end'
  if (mishap === 'crash') return everyCall || EFFECTS.test(calls[at - 1] ?? '')
  if (mishap === 'unanswered') return EFFECTS.test(call)
  return mishap === 'refused' ? call.startsWith('broker') : call !== 'chain'
}
const mishaps: Mishap[] = ['crash', 'unsent', 'unanswered', 'refused']

/** Declares the tests of some scenarios. */
export function sweep(world: () => World, scenarios: Record<string, Scenario>): void {
  describe.each(Object.entries(scenarios))('%s', (name, scenario) => {
    it.each(mishaps)('ends the same after a mishap: %s', { timeout: 300_000 }, async (mishap) => {
      const sample = createSample(`${name}, ${mishap}`)
      const { order, perform } = await setStage(world(), scenario)
      const { loss = 0n, everyCall = false } = scenario
      const { expected, calls } = await perform(async (play) => {
        const undisturbed = sabotage(play.deps(), -1, mishap)
        await play.run(order, undisturbed)
        expect(await resume(play, order)).toBe('done')
        await play.checkInvariants(loss)
        return { expected: await remains(play, order), calls: undisturbed.calls }
      })
      expect(expected.state).toBe(scenario.outcome === 'settled' ? 'SETTLED' : 'REFUNDED')
      expect(calls.length).toBeGreaterThan(5)
      for (let at = 0; at <= calls.length; at++) {
        const point = `call ${at}, ${calls[at]}`
        if (!applies(mishap, calls, at, everyCall) || !sample.isPlayed(point)) continue
        await sample.naming(point, () =>
          perform(async (play) => {
            await play.run(order, sabotage(play.deps(), at, mishap))
            await play.checkInvariants(loss)
            await resume(play, order)
            expect(await remains(play, order)).toEqual(expected)
            await play.checkInvariants(loss)
          }),
        )
      }
    })
  })
}
