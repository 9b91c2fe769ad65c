import { once } from 'node:events'
import { connect, createServer, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { createBackpressure } from '../../../src/server/http/backpressure.js'
import { eventually } from '../../support/eventually.js'

const MAX_UNREAD_MS = 1_000
const MAX_LIMITED_MS = 2_000
/** Many times as long as it takes to read what has come. */
const A_WHILE_MS = 100

/** Connections whose clients say something while they are left unread, in a process that rests when told. */
async function setUp(connections: number, options: { maxPaused?: number; limitMs?: number } = {}) {
  let now = 0
  let idle = 0
  const backpressure = createBackpressure({
    maxPauseMs: MAX_UNREAD_MS,
    maxRatePauseMs: MAX_LIMITED_MS,
    maxPaused: options.maxPaused ?? 1_000,
    now: () => now,
    idle: () => idle,
  })
  const server = createServer()
  onTestFinished(() => {
    server.close()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no TCP address')
  const heard: number[] = []
  const waitedOut: number[] = []
  const clients: Socket[] = []
  const accepted: Socket[] = []
  for (let index = 0; index < connections; index++) {
    const client = connect(address.port, '127.0.0.1')
    const [socket] = await once(server, 'connection')
    socket.on('data', () => {
      heard.push(index)
      if (backpressure.hasWaitedOut(socket)) waitedOut.push(index)
    })
    for (const end of [client, socket]) end.on('error', () => undefined)
    onTestFinished(() => {
      client.destroy()
      socket.destroy()
    })
    clients.push(client)
    accepted.push(socket)
  }
  for (const socket of accepted) {
    if (options.limitMs === undefined) backpressure.pause(socket)
    else backpressure.pauseFor(socket, options.limitMs)
  }
  for (const client of clients) client.write('anything')
  // More than counts as a rest.
  const rest = () => {
    idle += 5
  }
  const wait = (ms: number) => {
    now += ms
  }
  return { ...backpressure, heard, waitedOut, clients, accepted, rest, wait }
}

test('incoming bytes are not read before a rest, and are read then', async () => {
  const { heard, waitedOut, rest } = await setUp(2)
  await sleep(A_WHILE_MS)
  expect(heard).toEqual([])
  rest()
  await eventually('both', () => heard.length === 2)
  expect(waitedOut).toEqual([])
})

test('without a rest it is read when the time is over, and later ones do not count as waited out', async () => {
  const { heard, waitedOut, clients, wait } = await setUp(2)
  wait(MAX_UNREAD_MS - 1)
  await sleep(A_WHILE_MS)
  expect(heard).toEqual([])
  wait(1)
  await eventually('both', () => heard.length === 2)
  expect(waitedOut).toHaveLength(2)
  clients[0]?.write('what comes later')
  await eventually('it', () => heard.length === 3)
  expect(waitedOut).toHaveLength(2)
})

test('a rest is for some, those that were left last', async () => {
  const { heard, rest } = await setUp(40)
  rest()
  await eventually('32 of them', () => heard.length >= 32)
  await sleep(A_WHILE_MS)
  expect(heard.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 32 }, (_, index) => index + 8))
  rest()
  await eventually('the others', () => heard.length === 40)
})

test('left again while it is unread, it keeps its time', async () => {
  const { heard, accepted, pause, wait } = await setUp(1)
  wait(MAX_UNREAD_MS - 1)
  for (const socket of accepted) pause(socket)
  wait(1)
  await eventually('it', () => heard.length === 1)
})

test('left unread once more after it was resumed, it stays unread', async () => {
  const { heard, accepted, pause } = await setUp(1)
  for (const socket of accepted) {
    socket.resume()
    pause(socket)
  }
  await sleep(A_WHILE_MS)
  expect(heard).toEqual([])
})

test('of more than may be unread, the first are read', async () => {
  const { heard, accepted, pause } = await setUp(5, { maxPaused: 3 })
  await eventually('two', () => heard.length >= 2)
  // Is one of the three already.
  for (const socket of accepted.slice(2, 3)) pause(socket)
  await sleep(A_WHILE_MS)
  expect(heard.toSorted()).toEqual([0, 1])
})

test('one that has ended takes no other’s place', async () => {
  const { heard, pause, rest } = await setUp(1)
  for (let count = 0; count < 32; count++) pause(new Socket().destroy())
  rest()
  await eventually('it', () => heard.length === 1)
})

test('left for a time of its own, it is read after that time and not at a rest, and is not told from others', async () => {
  const { heard, waitedOut, rest, wait } = await setUp(1, { limitMs: 1_500 })
  rest()
  wait(1_499)
  await sleep(A_WHILE_MS)
  expect(heard).toEqual([])
  wait(1)
  await eventually('it', () => heard.length === 1)
  expect(waitedOut).toEqual([])
})

test('none is left for longer than its time-outs allow', async () => {
  const { heard, wait } = await setUp(1, { limitMs: 60_000 })
  wait(MAX_LIMITED_MS - 1)
  await sleep(A_WHILE_MS)
  expect(heard).toEqual([])
  wait(1)
  await eventually('it', () => heard.length === 1)
})

test('those with a time of their own take no other’s place at a rest', async () => {
  const { heard, accepted, pause, pauseFor, rest } = await setUp(0)
  expect(accepted).toEqual([])
  const sockets = Array.from({ length: 33 }, () => new Socket())
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
  })
  const [first, ...others] = sockets
  if (first === undefined) return
  pause(first)
  for (const socket of others) pauseFor(socket, 1_000)
  rest()
  await eventually('the first', () => !first.isPaused())
  expect(others.every((socket) => socket.isPaused())).toBe(true)
  expect(heard).toEqual([])
})
