import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { z } from 'zod'
import type { BrokerStandIn } from '../../src/simulator/index.js'
import { alpacaExample } from '../support/alpacaExamples.js'
import { brokerOf, ENCLAVE_ACCOUNT, SERVER_ACCOUNT, startStandIn, usd } from '../support/brokerStandIn.js'

let standIn: BrokerStandIn
const open: WebSocket[] = []
beforeEach(async () => {
  standIn = await startStandIn()
})
afterEach(async () => {
  for (const socket of open.splice(0)) socket.close()
  await standIn.stop()
})

/** The fields of an order's event that the tests look at. */
const updateSchema = z.object({
  stream: z.literal('trade_updates'),
  data: z.looseObject({ event: z.string(), order: z.looseObject({ client_order_id: z.string() }) }),
})

/** A connection that keeps what it hears, and whether it came in text frames. */
async function connect() {
  const socket = new WebSocket(`${standIn.url.replace('http', 'ws')}/stream`)
  socket.binaryType = 'arraybuffer'
  open.push(socket)
  const heard: unknown[] = []
  const frames: string[] = []
  let isClosed = false
  socket.addEventListener('message', ({ data }) => {
    frames.push(typeof data === 'string' ? 'text' : 'binary')
    heard.push(JSON.parse(typeof data === 'string' ? data : new TextDecoder().decode(data)))
  })
  socket.addEventListener('close', () => {
    isClosed = true
  })
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', reject)
  })
  return {
    heard,
    frames,
    isClosed: () => isClosed,
    say: (message: unknown) => socket.send(JSON.stringify(message)),
    hears: (count: number) => vi.waitFor(() => expect(heard).toHaveLength(count)),
    updates: () => heard.flatMap((message) => updateSchema.safeParse(message).data?.data ?? []),
    events: () => heard.flatMap((message) => updateSchema.safeParse(message).data?.data.event ?? []),
  }
}

async function listening({ keyId, secretKey } = ENCLAVE_ACCOUNT) {
  const stream = await connect()
  stream.say({ ...Object(alpacaExample('stream-auth')), key: keyId, secret: secretKey })
  stream.say(alpacaExample('stream-listen'))
  await stream.hears(2)
  return stream
}

const buy = (clientOrderId: string) =>
  brokerOf(standIn.url).placeOrder({ symbol: 'AAPL', side: 'buy', notional: usd(10), clientOrderId })

it('the stream answers as documented to good keys, in binary frames as for a paper account', async () => {
  const { heard, frames } = await listening()
  expect(heard).toEqual([alpacaExample('stream-authorized'), alpacaExample('stream-listening')])
  expect(frames).toEqual(['binary', 'binary'])
})

it('the stream answers as documented to wrong keys, and to a client that has shown none', async () => {
  const stream = await connect()
  stream.say(alpacaExample('stream-listen'))
  stream.say(alpacaExample('stream-auth'))
  await stream.hears(2)
  expect(stream.heard).toEqual([
    alpacaExample('stream-listen-unauthorized'),
    alpacaExample('stream-unauthorized'),
  ])
})

it('the stream answers as documented to streams that there are not, and to nonsense, before it closes', async () => {
  const stream = await listening()
  stream.say({ action: 'listen', data: { streams: ['account_updates'] } })
  stream.say('nonsense')
  await stream.hears(4)
  expect(stream.heard.slice(2)).toEqual([
    { stream: 'listening', data: { streams: [] } },
    alpacaExample('stream-error'),
  ])
  await expect.poll(() => stream.isClosed()).toBe(true)
})

it('the stream tells of a fill as documented, member for member', async () => {
  const stream = await listening()
  await buy('filled')
  await stream.hears(4)
  const { order, ...fill } = stream.updates()[1] ?? {}
  const { order: documentedOrder, ...documented } = Object(alpacaExample('stream-fill')).data
  expect(Object.keys(fill).sort()).toEqual(Object.keys(documented).sort())
  expect(fill).toMatchObject({ event: 'fill', qty: '0.0499975', price: '200.01' })
  // The documentation calls it the order of the REST API, whose examples have other members by now.
  const shared = Object.keys(documentedOrder).filter((key) => key !== 'cancel_requested_at')
  expect(Object.keys(order ?? {})).toEqual(expect.arrayContaining(shared))
  expect(order).toMatchObject({ client_order_id: 'filled', status: 'filled', filled_qty: '0.0499975' })
})

it('events follow an order to its end, for its own account alone', async () => {
  const [stream, other] = [await listening(), await listening(SERVER_ACCOUNT)]
  standIn.control.fill({ mode: 'partial', fraction: '0.5' })
  const order = await buy('cancelled')
  await brokerOf(standIn.url).cancelOrder(order.id)
  standIn.control.fill({ mode: 'reject' })
  await buy('rejected')
  await expect.poll(() => stream.events()).toHaveLength(6)
  expect(stream.events()).toEqual(['new', 'partial_fill', 'pending_cancel', 'canceled', 'new', 'rejected'])
  expect(other.events()).toEqual([])
})

it('events are lost, repeated, held back, in text, or not sent at all, on command', async () => {
  const { control } = standIn
  const stream = await listening()
  control.stream({ drop: 1 })
  await buy('lost')
  control.stream({ repeat: 1, text: true })
  await buy('twice')
  await stream.hears(6)
  expect(stream.events()).toEqual(['new', 'new', 'fill', 'fill'])
  expect(stream.frames.slice(2)).toEqual(['text', 'text', 'text', 'text'])
  control.stream({ shuffleMs: 300 })
  for (let number = 0; number < 6; number++) await buy(`shuffled-${number}`)
  await stream.hears(18)
  const shuffled = stream.updates().slice(4)
  const ids = shuffled.map(({ order, event }) => `${order.client_order_id} ${event}`)
  expect(ids).not.toEqual(ids.toSorted())
  control.stream({ silent: true })
  stream.say(alpacaExample('stream-listen'))
  await buy('unheard')
  control.stream({})
  await buy('heard')
  await stream.hears(20)
})

it('events are invented on command, and connections cut or refused', async () => {
  const { control } = standIn
  const stream = await listening()
  await buy('known')
  control.stream({ invent: { account: 'enclave', event: 'canceled', clientOrderId: 'known' } })
  control.stream({ invent: { account: 'enclave', event: 'fill' } })
  await stream.hears(6)
  const [canceled, filled] = stream.updates().slice(2)
  expect(canceled).toMatchObject({ event: 'canceled', order: { client_order_id: 'known' } })
  expect(filled).toMatchObject({
    event: 'fill',
    order: { client_order_id: expect.not.stringMatching(/^known$/) },
  })
  expect(() => control.stream({ invent: { account: 'nobody', event: 'fill' } })).toThrow(RangeError)
  control.stream({ disconnect: true, refuse: true })
  await expect.poll(() => stream.isClosed()).toBe(true)
  await expect(connect()).rejects.toBeDefined()
  control.stream({})
  await listening()
})
