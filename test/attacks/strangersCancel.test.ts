// Actor: a stranger who reads orderIds on the chain; an employee who keeps a copy of her own cancel, or of another's; an intruder in
// the server.
// Cost: an HTTP request each.
// Effect: a cancel that anyone could send would end every order on the chain, and junk under an orderId would keep its owner's
// cancel out.
// Now: the server stores a cancel only with the signature of the escrow's account outside the seal. The enclave believes the
// signature inside it alone, which names order, chain and escrow.
import { describe, expect, it } from 'vitest'
import { cancelOf } from '../enclave/support/parties.js'
import { buy } from '../enclave/support/scenarios.js'
import { useWorld } from '../enclave/support/world.js'
import { useOrders } from '../server/intake/ordersUnderTest.js'
import { eventually } from '../support/eventually.js'
import { bytes32 } from '../support/institution.js'
import { openFor, sealOrder } from '../support/intakeServer.js'
import { signedCancel } from '../support/signedCancels.js'
import { storedRows } from '../support/storedRows.js'

const DAY = 86_400

describe('a server that anyone can reach', () => {
  const { chain, setUp } = useOrders()
  const [HERS, HIS] = [bytes32('her order'), bytes32('his order')]

  it('stores no stranger’s cancel, however many come, and no copy of one for another order', async () => {
    const server = await setUp()
    await server.enclave.plan({ any: [{ outcome: 'queued', retryAt: 4_000_000_000 }] })
    await openFor(chain(), 'alice', HERS, await sealOrder('hers'))
    await openFor(chain(), 'bob', HIS, await sealOrder('his'))
    const post = (orderId: string, body: object) => server.api.post(`/orders/${orderId}/cancel`).send(body)
    const copied = await signedCancel(chain(), 'alice', HERS)
    const junk = { ...copied, ...(await sealOrder('junk')) }
    const flood = await Promise.all(
      Array.from({ length: 50 }, async (_, n) =>
        n % 2 === 0 ? post(HERS, await signedCancel(chain(), 'bob', HERS)) : post(HERS, junk),
      ),
    )
    expect(new Set(flood.map(({ status }) => status))).toEqual(new Set([403]))
    expect((await post(HIS, copied)).body.code).toBe('not-order-account')
    expect(storedRows(server.dataDir, 'cancels')).toEqual([])
    expect(await server.enclave.jobs()).toEqual([])
    expect((await post(HERS, copied)).status).toBe(202)
    await eventually('a run with it', async () => (await server.enclave.jobs()).length === 1)
  })
})

describe('a server that has been broken into', () => {
  const world = useWorld()

  it('cancels nothing with another’s cancel, an older one of the same account, or one that it signs itself', async () => {
    const [hers, before, his] = [
      await world().open({ ...buy(250), deadlineIn: DAY }),
      await world().open(buy(300)),
      await world().open({ ...buy(350), who: 'bob' }),
    ]
    const { chain } = world()
    const kept = await cancelOf(chain, before)
    for (const cancel of [kept, await cancelOf(chain, his), await cancelOf(chain, hers, 'relayer')]) {
      world().broker.control.clock({ open: false })
      expect(await world().run(hers, { cancel })).toMatchObject({ outcome: 'queued' })
    }
    world().broker.control.clock({ open: true })
    expect(await world().run(hers)).toMatchObject({ outcome: 'settled' })
    await world().checkInvariants()
  })

  it('refunds nothing that was filled, and nothing twice, by cancels that come late and again', async () => {
    const order = await world().settled(buy(250))
    const cancel = await cancelOf(world().chain, order)
    for (let n = 0; n < 3; n++)
      expect(await world().run(order, { cancel })).toMatchObject({ outcome: 'done' })
    const other = await world().open(buy(100))
    const twice = await cancelOf(world().chain, other)
    expect(await world().run(other, { cancel: twice })).toMatchObject({ outcome: 'refunded' })
    expect(await world().run(other, { cancel: twice })).toMatchObject({ outcome: 'done' })
    await world().checkInvariants()
  })
})
