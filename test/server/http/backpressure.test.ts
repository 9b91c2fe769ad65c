import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { createBackpressure } from '../../../src/server/http/backpressure.js'
import { eventually } from '../../support/eventually.js'

const FOR_EVER_MS = 600_000
/** Many times as long as it takes to read what has come. */
const A_WHILE_MS = 100

/** Connections whose clients say something while they are left unread, in a process that rests when told. */
async function setUp(options: { connections: number; maxMs?: number }) {
  let idleMs = 0
  const backpressure = createBackpressure({ maxMs: options.maxMs ?? FOR_EVER_MS, idle: () => idleMs })
  const server = createServer()
  onTestFinished(() => {
    server.close()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no TCP address')
  const heard: number[] = []
  const overdue: number[] = []
  const clients: Socket[] = []
  const accepted: Socket[] = []
  for (let index = 0; index < options.connections; index++) {
    const client = connect(address.port, '127.0.0.1')
    const [socket] = await once(server, 'connection')
    socket.on('data', () => {
      heard.push(index)
      if (backpressure.isOverdue(socket)) overdue.push(index)
    })
    for (const end of [client, socket]) end.on('error', () => undefined)
    onTestFinished(() => {
      client.destroy()
      socket.destroy()
    })
    clients.push(client)
    accepted.push(socket)
  }
  for (const socket of accepted) backpressure.leaveUnread(socket)
  for (const client of clients) client.write('anything')
  const rest = () => {
    idleMs += 5
  }
  return { ...backpressure, heard, overdue, clients, accepted, rest }
}

test('what comes in is not read before a rest, and is then', async () => {
  const { heard, overdue, rest } = await setUp({ connections: 2 })
  await sleep(A_WHILE_MS)
  expect(heard).toEqual([])
  rest()
  await eventually('both', () => heard.length === 2)
  expect(overdue).toEqual([])
})

test('without a rest it is read when the time is over, and is overdue', async () => {
  const { heard, overdue, clients } = await setUp({ connections: 2, maxMs: 3 * A_WHILE_MS })
  await sleep(A_WHILE_MS)
  expect(heard).toEqual([])
  await eventually('both', () => heard.length === 2)
  expect(overdue).toHaveLength(2)
  clients[0]?.write('what comes later')
  await eventually('it', () => heard.length === 3)
  expect(overdue).toHaveLength(2)
})

test('a rest is for some, those that were left last', async () => {
  const { heard, rest } = await setUp({ connections: 40 })
  const inOrder = () => [...heard].sort((a, b) => a - b)
  rest()
  await eventually('32 of them', () => heard.length >= 32)
  await sleep(A_WHILE_MS)
  expect(inOrder()).toEqual(Array.from({ length: 32 }, (_, index) => index + 8))
  rest()
  await eventually('the others', () => heard.length === 40)
})

test('left again while it is unread, it keeps its time', async () => {
  const { heard, accepted, leaveUnread } = await setUp({ connections: 1, maxMs: 3 * A_WHILE_MS })
  const again = setInterval(() => {
    if (heard.length === 0) for (const socket of accepted) leaveUnread(socket)
  }, 5)
  onTestFinished(() => clearInterval(again))
  await eventually('it', () => heard.length === 1)
})

test('one that ends meanwhile is let go, and the others are read', async () => {
  const { heard, accepted, clients, leaveUnread, rest } = await setUp({ connections: 3 })
  clients[0]?.resetAndDestroy()
  accepted[1]?.destroy()
  rest()
  await eventually('the third', () => heard.includes(2))
  await eventually('the end of the first', () => accepted[0]?.destroyed === true)
  for (const socket of accepted.slice(0, 2)) leaveUnread(socket)
  expect(heard).not.toContain(1)
})
