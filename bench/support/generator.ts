// The load generator, as a separate process. It speaks just as much HTTP as it needs: the load must not take more of the machine
// than the server does.
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { wire } from '../../test/support/flood.js'
import { loopbackOf } from './clients.js'
import { type LoadPlan, type LoadResult, loadPlanSchema, quantile } from './load.js'
import { answerTasks } from './processes.js'

const LOOK_MS = 1
/** A run fails after so long without an answer. */
const TIMEOUT_MS = 180_000
const REFUSED = 503
const HEAD_END = '\r\n\r\n'
const STATUS_AT = 'HTTP/1.1 '.length
const STATUS_DIGITS = 3

interface Client {
  readonly url: URL
  /** Undefined before the first request, and between two of a client that opens a connection for each. */
  socket: Socket | undefined
  readonly address: string
  readonly reconnects: boolean
  /** When the request under way was due. */
  dueAt: number | undefined
}

/**
 * A request that had to wait for a connection has waited for the server, so its answer's time counts from when it was due. With a
 * free connection the time counts from when it was sent: this process was late, by its timer or for want of a core.
 */
async function load(plan: LoadPlan): Promise<LoadResult> {
  const { durationMs, perSecond, expectedStatus, usefulMs = Number.POSITIVE_INFINITY } = plan
  const texts = plan.requests.map(({ method, path, body }) =>
    Buffer.from(wire(method, path, body, plan.headers)),
  )
  const total = totalOf(plan)
  const clients = clientsOf(plan)
  const isAnyClient = plan.clients === undefined
  const free = isAnyClient ? [...clients] : []
  const good: number[] = []
  const refused: number[] = []
  const failedWith = new Set<number>()
  let [due, sent, answered, failed, broken] = [0, 0, 0, 0, 0]
  const keptAlive = clients.filter(({ reconnects }) => !reconnects)
  await Promise.all(keptAlive.map((client) => new Promise<void>((resolve) => openSocket(client, resolve))))
  const startedAt = performance.now()
  // An open loop on any connection waits for all its answers instead.
  const isTimed = durationMs !== null && (perSecond === undefined || !isAnyClient)
  const endAt = isTimed ? startedAt + durationMs : Number.POSITIVE_INFINITY
  let answeredAt = startedAt

  function openSocket(client: Client, onOpen: () => void): Socket {
    const { hostname: host, port } = client.url
    const socket = connect({ host, port: Number(port), localAddress: client.address }, onOpen)
    socket.setNoDelay(true).setEncoding('latin1')
    let received = ''
    socket.on('data', (part: string) => {
      received += part
      const status = statusOf(received)
      if (status === undefined) return
      received = ''
      onAnswer(client, status)
    })
    // `close` follows it.
    socket.on('error', () => undefined)
    socket.once('close', () => {
      // A server may end an idle connection, which is reopened for its next request.
      if (client.dueAt === undefined) client.socket = undefined
      else broken++
      onOpen()
    })
    client.socket = socket
    return socket
  }

  function onAnswer(client: Client, status: number): void {
    const now = performance.now()
    const tookMs = now - (client.dueAt ?? now)
    answered++
    answeredAt = now
    client.dueAt = undefined
    if (client.reconnects) close(client)
    if (now > endAt) return
    const isExpected =
      expectedStatus === undefined ? status >= 200 && status < 300 : status === expectedStatus
    if (isExpected && tookMs <= usefulMs) good.push(tookMs)
    else {
      failed++
      failedWith.add(status)
    }
    if (status === REFUSED) refused.push(tookMs)
    const wereAllBusy = free.length === 0
    if (isAnyClient) free.push(client)
    sendDue(now, wereAllBusy)
  }

  const dueAt = (now: number) => (perSecond === undefined ? now : startedAt + (due * 1_000) / perSecond)

  function sendDue(now: number, wereAllBusy = false): void {
    while (due < total && dueAt(now) <= now && now < endAt) {
      const client = isAnyClient ? free.shift() : clients[due % clients.length]
      if (client === undefined) return
      const at = wereAllBusy ? dueAt(now) : now
      const text = texts[due++ % texts.length] ?? ''
      if (client.dueAt !== undefined) continue
      sent++
      client.dueAt = at
      const socket = client.socket ?? openSocket(client, () => undefined)
      socket.write(text)
    }
  }

  /** A client in turn may stay without an answer. By default each request needs one. */
  function isOver(now: number): boolean {
    if (now >= endAt) return true
    return isAnyClient && (broken > 0 || answered === total || now >= answeredAt + TIMEOUT_MS)
  }

  for (let now = startedAt; !isOver(now); now = performance.now()) {
    sendDue(now)
    await sleep(LOOK_MS)
  }
  for (const client of clients) close(client)
  const seconds = (isTimed ? durationMs : answeredAt - startedAt) / 1_000
  return {
    due,
    sent,
    good: good.length,
    failed: failed + (isTimed ? broken : total - answered),
    failedWith: [...failedWith],
    refused: refused.length,
    perSecond: good.length === 0 ? 0 : good.length / seconds,
    p50Ms: quantile(good, 0.5),
    p99Ms: quantile(good, 0.99),
    refusedP99Ms: quantile(refused, 0.99),
  }
}

/** So many have had an address of their own so far, and with it the whole rate of a client. */
let newClients = 0

function clientsOf({ urls, connections, clients = {} }: LoadPlan): Client[] {
  const { addresses = [], halfReconnect = false } = clients
  return Array.from({ length: connections }, (_, index) => ({
    url: new URL(urls[index % urls.length] ?? ''),
    socket: undefined,
    address: addresses[index % addresses.length] ?? loopbackOf(newClients++),
    reconnects: halfReconnect && index % 2 === 1,
    dueAt: undefined,
  }))
}

function totalOf({ requests, durationMs, perSecond }: LoadPlan): number {
  if (durationMs === null) return requests.length
  return perSecond === undefined ? Number.POSITIVE_INFINITY : Math.floor((durationMs * perSecond) / 1_000)
}

function close(client: Client): void {
  client.socket?.removeAllListeners('close').destroy()
  client.socket = undefined
}

/** The status of an answer, once the whole answer is there. */
function statusOf(received: string): number | undefined {
  const headEnd = received.indexOf(HEAD_END)
  if (headEnd < 0) return undefined
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(received)?.[1] ?? 0)
  if (received.length < headEnd + HEAD_END.length + length) return undefined
  return Number(received.slice(STATUS_AT, STATUS_AT + STATUS_DIGITS))
}

answerTasks(loadPlanSchema, load)
