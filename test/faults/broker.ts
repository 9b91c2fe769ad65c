import { setTimeout as sleep } from 'node:timers/promises'
import type { BrokerControl } from '../../src/simulator/index.js'
import type { Notes } from './notes.js'
import type { Fault, KindOf } from './plan.js'

const ACCOUNT = 'enclave'
const PLACING = { method: 'POST', path: '/v2/orders', account: ACCOUNT } as const
const ORDERS = { path: '/v2/orders', account: ACCOUNT } as const
const NEXT_TWO = { account: ACCOUNT, times: 2 } as const

type Timed = Pick<Fault, 'amount' | 'forMs'>

/** Brings about the planned events of market, clock and broker. */
export function createMarket(broker: BrokerControl, notes: Notes) {
  const release = () => broker.release({ account: ACCOUNT })
  const waiting =
    (waitsAs: 'held' | 'suspended' | 'stopped') =>
    ({ amount }: Timed) =>
      broker.fill({ ...NEXT_TWO, mode: 'delay', delayMs: amount * 2, waitsAs })
  const refusing = (status: number) => () =>
    broker.fault({ ...ORDERS, respond: { status, body: {} }, times: 2 })
  const ending = (endsThrough: 'calculated' | 'done_for_day', amount: number) => ({
    ...NEXT_TWO,
    endsThrough,
    endDelayMs: amount * 2,
  })

  return {
    closed: ({ forMs }: Timed) =>
      broker.clock({ open: false, nextOpen: new Date(Date.now() + forMs).toISOString() }),
    async clock(kind: KindOf<'clock'>, { amount, forMs }: Timed): Promise<void> {
      await notes.setClock((kind === 'ahead' ? amount : -amount) * 1_000)
      await sleep(forMs)
      await notes.setClock(0)
    },
    broker: {
      lost: () => broker.fault({ ...PLACING, drop: 'after' }),
      cut: () => broker.fault({ ...PLACING, drop: 'before' }),
      slow: ({ amount }) => broker.fault({ ...ORDERS, delayMs: amount, times: 3 }),
      limited: refusing(429),
      failing: refusing(503),
      'fill-late': ({ amount }) => broker.fill({ ...NEXT_TWO, mode: 'delay', delayMs: amount * 2 }),
      async 'fill-partial'({ forMs }) {
        broker.fill({ ...NEXT_TWO, mode: 'partial', fraction: '0.4' })
        await sleep(forMs)
        release()
      },
      'fill-rejected': () => broker.fill({ account: ACCOUNT, mode: 'reject', times: 1 }),
      'order-held': waiting('held'),
      'order-suspended': waiting('suspended'),
      'order-stopped': waiting('stopped'),
      'order-calculated': ({ amount }) => broker.fill({ ...ending('calculated', amount), mode: 'immediate' }),
      'order-done-for-day': ({ amount }) =>
        broker.fill({ ...ending('done_for_day', amount), mode: 'expire', fraction: '0.4' }),
      'order-replaced': ({ amount }) =>
        broker.fill({ ...NEXT_TWO, mode: 'replace', fraction: '0.4', delayMs: amount }),
    } satisfies Record<KindOf<'broker'>, (timed: Timed) => Promise<void> | void>,
    /** Broker and clock work as they should from now on. */
    async calm(): Promise<void> {
      await notes.setClock(0)
      broker.clear({ what: 'faults' })
      broker.clear({ what: 'fills' })
      broker.clock({ open: true })
      release()
    },
  }
}
