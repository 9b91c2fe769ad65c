import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LoadRequest } from './load.js'
import type { OpenLoopPlan, OpenLoopResult } from './openLoopPlan.js'
import { quantile } from './statistics.js'

interface Client {
  /** Undefined before the first request, and between two of a client that opens a connection for each. */
  socket: Socket | undefined
  readonly localAddress: string | undefined
  readonly reconnects: boolean
  /** When the request that is under way was due. */
  askedAt: number | undefined
}

const LOOK_MS = 1
const REFUSED = 503

/**
 * Sends requests when they are due, to each client in turn. A client asks nothing while it waits for an answer, as a page does:
 * what falls due for it then goes unasked. None heeds `Retry-After`.
 *
 * Without a rate, each client asks again as soon as it is answered.
 */
export async function sendOpenLoop(plan: OpenLoopPlan): Promise<OpenLoopResult> {
  const { url, connections, perSecond, durationMs, usefulMs, addresses = [], halfReconnect = false } = plan
  const requests = plan.requests.map((request) => textOf(new URL(url), request))
  const good: number[] = []
  const refused: number[] = []
  let due = 0
  let asked = 0
  const clients = Array.from({ length: connections }, (_, index): Client => {
    const reconnects = halfReconnect && index % 2 === 1
    return {
      socket: undefined,
      localAddress: addresses[index % addresses.length],
      reconnects,
      askedAt: undefined,
    }
  })
  await Promise.all(
    clients.filter(({ reconnects }) => !reconnects).map((client) => once(connectTo(client), 'connect')),
  )
  const startedAt = performance.now()
  const endAt = startedAt + durationMs

  function answered(client: Client, status: number): void {
    const now = performance.now()
    const tookMs = now - (client.askedAt ?? now)
    client.askedAt = undefined
    if (client.reconnects) {
      client.socket?.destroy()
      client.socket = undefined
    }
    if (now > endAt) return
    if (status === REFUSED) refused.push(tookMs)
    else if (status >= 200 && status < 300 && tookMs <= usefulMs) good.push(tookMs)
    if (perSecond === undefined) fallDue(client, now)
  }

  function connectTo(client: Client): Socket {
    client.socket = openSocket(url, client, answered)
    return client.socket
  }

  function fallDue(client: Client, at: number): void {
    const request = requests[due++ % requests.length]
    if (client.askedAt !== undefined || request === undefined) return
    asked++
    client.askedAt = at
    const socket = client.socket ?? connectTo(client)
    socket.write(request)
  }

  /** Those that fell due since it was called last. */
  function sendDue(rate: number, now: number): void {
    const dueAt = () => startedAt + (due * 1_000) / rate
    while (dueAt() <= now) {
      const client = clients[due % clients.length]
      if (client === undefined) return
      fallDue(client, dueAt())
    }
  }

  if (perSecond === undefined) for (const client of clients) fallDue(client, startedAt)
  for (let now = performance.now(); now < endAt; now = performance.now()) {
    if (perSecond !== undefined) sendDue(perSecond, now)
    await sleep(LOOK_MS)
  }
  for (const { socket } of clients) socket?.destroy()
  const sorted = { good: Float64Array.from(good).sort(), refused: Float64Array.from(refused).sort() }
  return {
    due,
    asked,
    good: good.length,
    refused: refused.length,
    goodPerSecond: (good.length * 1_000) / durationMs,
    p50Ms: quantile(sorted.good, 0.5),
    p99Ms: quantile(sorted.good, 0.99),
    refusedP99Ms: refused.length === 0 ? null : quantile(sorted.refused, 0.99),
  }
}

/** Speaks just as much HTTP as it needs: the load must not take more of the machine than the server does. */
function openSocket(url: string, client: Client, answered: (client: Client, status: number) => void): Socket {
  const { hostname, port } = new URL(url)
  const { localAddress } = client
  const socket = connect({
    host: hostname,
    port: Number(port),
    ...(localAddress !== undefined && { localAddress }),
  })
  socket.setNoDelay(true).setEncoding('latin1')
  let received = ''
  socket.on('data', (part: string) => {
    received += part
    const headEnd = received.indexOf('\r\n\r\n')
    if (headEnd < 0) return
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(received)?.[1] ?? 0)
    if (received.length < headEnd + 4 + length) return
    const status = Number(received.slice(9, 12))
    received = ''
    answered(client, status)
  })
  // A connection that the server ends later answers nothing more, and counts as that.
  socket.on('error', () => undefined)
  return socket
}

function textOf({ host }: URL, { method, path, body = '' }: LoadRequest): string {
  const length = Buffer.byteLength(body)
  const headers = body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${length}\r\n`
  return `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${headers}\r\n${body}`
}
