// Actor: an employee who knows that the guardian has just paused the platform.
// Cost: her own gas.
// Effect: an order that the enclave placed during a pause could not be settled. Seven days after its deadline she would have reclaimed the
// USDC of a filled buy: a bet at the platform's cost.
// Now: the enclave neither writes ahead nor places while the platform is paused, and a pause is shorter than the time until a reclaim.
import { expect, it } from 'vitest'
import { buy } from '../enclave/support/scenarios.js'
import { useWorld } from '../enclave/support/world.js'

const world = useWorld()
const DAY = 86_400

it('nothing is written ahead while the platform is paused, and the order goes on after it', async () => {
  const order = await world().open(buy(250))
  await world().chain.send('guardian', 'authority', 'pause')
  expect(await world().run(order)).toMatchObject({ outcome: 'queued', code: 'paused' })
  expect(world().relay.posted).toEqual([])
  expect(world().broker.control.orders()).toEqual([])
  await world().chain.send('owner', 'authority', 'liftPause')
  expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
})

it('an order that was written ahead is not placed, and a filled one is settled after the pause', async () => {
  world().broker.control.clock({ open: false })
  const waiting = await world().open({ ...buy(250), deadlineIn: DAY })
  expect(await world().run(waiting)).toMatchObject({ outcome: 'queued' })
  world().broker.control.clock({ open: true })
  const live = await world().live(buy(100))
  await world().chain.send('guardian', 'authority', 'pause')
  world().broker.control.release({})

  expect(await world().run(waiting)).toMatchObject({ outcome: 'queued', code: 'paused' })
  expect(world().broker.control.orders()).toHaveLength(1)
  expect(await world().run(live)).toMatchObject({ outcome: 'queued', code: 'paused' })
  expect(await world().state(live)).toBe('OPEN')

  await world().chain.send('owner', 'authority', 'liftPause')
  expect(await world().run(live)).toMatchObject({ outcome: 'settled' })
  await world().checkInvariants()
})
