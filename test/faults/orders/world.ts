import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FullDisk } from './fullDisk.js'
import type { WorldEvent } from './kinds.js'
import type { PlannedAct, PlannedEvent } from './plan.js'
import type { Desk } from './platform.js'
import { count } from './word.js'

/** Does to broker, clock, disk and enclave what the plan says. */
export interface World {
  /** They come about at their times from now on, and end at theirs. */
  begin(events: readonly PlannedEvent[]): void
  /** The enclave ends or stands still so, each once. */
  order(acts: readonly PlannedAct[]): Promise<void>
  /** Resolves when everything has come about and ended, and nothing goes wrong any more. */
  calm(): Promise<void>
  /** By kind: how often each came about. */
  struck(): Record<string, number>
}

const ACCOUNT = 'enclave'
const PLACING = { method: 'POST', path: '/v2/orders', account: ACCOUNT } as const
const ORDERS = { path: '/v2/orders', account: ACCOUNT } as const
const NEXT_TWO = { account: ACCOUNT, times: 2 } as const
const ORDERS_DIGITS = 4
const MS_PER_SECOND = 1_000

type Act = (event: PlannedEvent) => Promise<void> | void

export function createWorld({ sandbox, bench }: Desk, disk: FullDisk): World {
  const { broker } = sandbox
  const underWay: Promise<void>[] = []
  const struck: WorldEvent[] = []
  let acts = 0

  const setClock = (ms: number) => writeFile(join(bench, 'clock'), `${ms}`)
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
    'clock-ahead': ({ amount }) => setClock(amount * MS_PER_SECOND),
    'clock-back': ({ amount }) => setClock(-amount * MS_PER_SECOND),
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

  return {
    begin(events) {
      for (const event of events) {
        const happening = async () => {
          await sleep(event.afterMs)
          struck.push(event.kind)
          await actions[event.kind](event)
        }
        underWay.push(happening())
      }
    },
    async order(planned) {
      for (const act of planned) {
        const what = `${act.stopMs > 0 ? 'stopped' : 'killed'}-at-${act.step}`
        const name = `${String(acts++).padStart(ORDERS_DIGITS, '0')}-${what}`
        // Appears whole or not at all.
        await writeFile(join(bench, name), JSON.stringify(act))
        await rename(join(bench, name), join(bench, 'acts', name))
      }
    },
    async calm() {
      await Promise.all(underWay)
      await setClock(0)
      await rm(join(bench, 'acts'), { recursive: true })
      await mkdir(join(bench, 'acts'))
      broker.clear({ what: 'faults' })
      broker.clear({ what: 'fills' })
      broker.clock({ open: true })
      release()
    },
    struck: () => count(struck.map((kind) => `world ${kind}`)),
  }
}
