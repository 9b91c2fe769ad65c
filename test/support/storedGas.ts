import { type Booking, bookingSchema, holderOf, restOf } from '../../src/server/relay/gasBudget.js'
import type { Engine } from '../../src/server/store/engine.js'
import { relayRecordSchema } from '../../src/server/store/receipts.js'

/** The bookings of orders written ahead as they are stored, by order. */
export async function storedBookings(engine: Pick<Engine, 'open'>): Promise<Map<string, Booking>> {
  const rows = await engine.open('bookings')
  return new Map(rows.map(({ id, doc }) => [id, bookingSchema.parse(JSON.parse(doc))]))
}

type Gas = Record<string, { readonly used: bigint; readonly kept: bigint }>

/** The sums of gas as they are stored, and as records and bookings add up to them. Tests write records of one day. */
export async function gasSums(
  engine: Pick<Engine, 'open' | 'closed' | 'sums'>,
): Promise<{ readonly stored: Gas; readonly added: Gas }> {
  const rows = [...(await engine.open('relays')), ...(await engine.closed('relays', '', 1_000))]
  const records = rows.map(({ doc }) => relayRecordSchema.parse(JSON.parse(doc)))
  const bookings = [...(await storedBookings(engine)).values()]
  const added: Record<string, { used: bigint; kept: bigint }> = {}
  function add(id: string | undefined, used: bigint, kept: bigint): void {
    if (id === undefined) return
    const sum = added[id] ?? { used: 0n, kept: 0n }
    added[id] = { used: sum.used + used, kept: sum.kept + kept }
  }
  add('all', 0n, 0n)
  add('booked', 0n, 0n)
  for (const { gas, purpose } of records) {
    add('all', gas.used, gas.setAside)
    add(holderOf(purpose), gas.used - gas.excused, gas.setAside)
  }
  for (const booking of bookings)
    for (const id of ['all', 'booked', booking.account]) add(id, 0n, restOf(booking))
  const sums = await engine.sums(Object.keys(added))
  const stored = Object.fromEntries(
    Object.keys(added).map((id) => {
      const { used, kept } = sums.find((sum) => sum.id === id) ?? { used: 0n, kept: 0n }
      return [id, { used, kept }]
    }),
  )
  return { stored, added }
}
