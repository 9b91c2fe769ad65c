import { setTimeout as sleep } from 'node:timers/promises'
import { count, createTimetable } from '../engine/storm.js'
import type { FullDisk } from './fullDisk.js'
import type { Notes } from './notes.js'
import type { PlannedEvent, WorldEvent } from './plan.js'
import type { Desk } from './platform.js'

const ACCOUNT = 'enclave'
const PLACING = { method: 'POST', path: '/v2/orders', account: ACCOUNT } as const
const ORDERS = { path: '/v2/orders', account: ACCOUNT } as const
const NEXT_TWO = { account: ACCOUNT, times: 2 } as const
const MS_PER_SECOND = 1_000

type Act = (event: PlannedEvent) => Promise<void> | void

/** Brings about the planned events of broker, clock and disk. */
export function createWorld({ sandbox }: Desk, disk: FullDisk, notes: Notes) {
  const { broker } = sandbox
  const struck: WorldEvent[] = []

  const lasting =
    (begin: Act, end: () => Promise<void> | void): Act =>
    async (event) => {
      await begin(event)
      await sleep(event.forMs)
      await end()
    }
  const release = () => broker.release({ account: ACCOUNT })
  const waiting =
    (waitsAs: 'held' | 'suspended' | 'stopped'): Act =>
    ({ amount }) =>
      broker.fill({ ...NEXT_TWO, mode: 'delay', delayMs: amount * 2, waitsAs })

  const actions: Record<WorldEvent, Act> = {
    'market-closed': ({ forMs }) =>
      broker.clock({ open: false, nextOpen: new Date(Date.now() + forMs).toISOString() }),
    'clock-ahead': ({ amount }) => notes.setClock(amount * MS_PER_SECOND),
    'clock-back': ({ amount }) => notes.setClock(-amount * MS_PER_SECOND),
    'disk-full': lasting(disk.fill, disk.free),
    'broker-lost': () => broker.fault({ ...PLACING, drop: 'after' }),
    'broker-cut': () => broker.fault({ ...PLACING, drop: 'before' }),
    'broker-slow': ({ amount }) => broker.fault({ ...ORDERS, delayMs: amount, times: 3 }),
    'broker-limited': () => broker.fault({ ...ORDERS, respond: { status: 429, body: {} }, times: 2 }),
    'broker-failing': () => broker.fault({ ...ORDERS, respond: { status: 503, body: {} }, times: 2 }),
    'fill-late': ({ amount }) =>
      broker.fill({ account: ACCOUNT, mode: 'delay', delayMs: amount * 2, times: 2 }),
    'fill-partial': lasting(
      () => broker.fill({ account: ACCOUNT, mode: 'partial', fraction: '0.4', times: 2 }),
      release,
    ),
    'fill-rejected': () => broker.fill({ account: ACCOUNT, mode: 'reject', times: 1 }),
    'order-held': waiting('held'),
    'order-suspended': waiting('suspended'),
    'order-stopped': waiting('stopped'),
    'order-calculated': ({ amount }) =>
      broker.fill({ ...NEXT_TWO, mode: 'immediate', endsThrough: 'calculated', endDelayMs: amount * 2 }),
    'order-done-for-day': ({ amount }) =>
      broker.fill({
        ...NEXT_TWO,
        mode: 'expire',
        fraction: '0.4',
        endsThrough: 'done_for_day',
        endDelayMs: amount * 2,
      }),
    'order-replaced': ({ amount }) =>
      broker.fill({ ...NEXT_TWO, mode: 'replace', fraction: '0.4', delayMs: amount }),
  }

  const events = createTimetable(async (event: PlannedEvent) => {
    struck.push(event.kind)
    await actions[event.kind](event)
  })

  return {
    begin: events.begin,
    /** Resolves when every event is over, and broker, clock and enclave work as they should. */
    async calm(): Promise<void> {
      await events.ended()
      await notes.setClock(0)
      await notes.takeBack()
      broker.clear({ what: 'faults' })
      broker.clear({ what: 'fills' })
      broker.clock({ open: true })
      release()
    },
    /** Counts the events by kind. */
    struck: () => count(struck.map((kind) => `world ${kind}`)),
  }
}
