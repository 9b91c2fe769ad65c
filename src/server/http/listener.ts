import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { Config } from '../config.js'
import { clientOf } from './client.js'
import { answerClientError } from './clientErrors.js'
import { withPath } from './requestTarget.js'

/** How closely the header and request time-outs are kept. */
const CONNECTION_CHECK_MS = 1_000
/** How soon a stopping server hangs up after a connection's last answer. */
const IDLE_CHECK_MS = 50

/** What a server that listens is told. */
export type ListenOptions = Pick<
  Config['http'],
  | 'port'
  | 'host'
  | 'headersTimeoutMs'
  | 'requestTimeoutMs'
  | 'answerTimeoutMs'
  | 'keepAliveTimeoutMs'
  | 'maxConnections'
>

/** Which connections of a client (`clientOf`) are refused. */
export interface ClientCap {
  /** How many it may hold. */
  readonly max: number
  /** Whether it may open none. */
  isBarred(client: string): boolean
  /** Called for each that is refused. */
  readonly onRefused: () => void
}

/**
 * @param cap left out: only `maxConnections` counts
 * @throws the system error of `listen`
 */
export async function listen(
  http: ListenOptions,
  listener: RequestListener,
  cap?: ClientCap,
): Promise<Server> {
  const answer = whileConnected(withAnswerTimeout(withPath(listener), http.answerTimeoutMs))
  const server = createServer(
    {
      // Node refuses a longer one.
      headersTimeout: Math.min(http.headersTimeoutMs, http.requestTimeoutMs),
      requestTimeout: http.requestTimeoutMs,
      keepAliveTimeout: http.keepAliveTimeoutMs,
      connectionsCheckingInterval: CONNECTION_CHECK_MS,
      // The app looks for it, and says what is missing.
      requireHostHeader: false,
    },
    answer,
  )
  server.maxConnections = http.maxConnections
  if (cap !== undefined) capConnections(server, cap)
  server.on('clientError', answerClientError)
  // An expectation that is not known may be ignored (RFC 9110, 10.1.1). Node refuses it, without a body.
  server.on('checkExpectation', answer)
  server.listen({ port: http.port, ...(http.host !== undefined && { host: http.host }) })
  await once(server, 'listening')
  return server
}

/** Closes connections beyond a client's cap, or of one that is barred, as they come. An answer would need what is short. */
function capConnections(server: Server, { max, isBarred, onRefused }: ClientCap): void {
  const open = new Map<string, number>()
  server.on('connection', (socket) => {
    const client = clientOf(socket.remoteAddress)
    const count = open.get(client) ?? 0
    if (count >= max || isBarred(client)) {
      socket.destroy()
      onRefused()
      return
    }
    open.set(client, count + 1)
    socket.once('close', () => {
      const left = (open.get(client) ?? 1) - 1
      if (left === 0) open.delete(client)
      else open.set(client, left)
    })
  })
}

/** Leaves out what came in one read with a request that closed the connection: Node hands it over all the same. */
function whileConnected(listener: RequestListener): RequestListener {
  return (req, res) => {
    if (!req.socket.destroyed) listener(req, res)
  }
}

/** Hangs up on a caller who takes nothing of an answer for that long. Node would keep it in memory for ever. */
function withAnswerTimeout(listener: RequestListener, limitMs: number): RequestListener {
  return (req, res) => {
    res.setTimeout(limitMs, () => {
      // Before that, it is the caller who waits.
      if (res.headersSent) req.socket.destroy()
    })
    listener(req, res)
  }
}

/** Resolves when every connection is closed: the idle at once, the busy when answered or after `limitMs`. */
export async function close(server: Server, limitMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  // Node closes the connections that are idle now, and would keep alive those that are when they were answered.
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS)
  const limit = setTimeout(() => server.closeAllConnections(), limitMs)
  await closed
  clearInterval(idle)
  clearTimeout(limit)
}

/** The port in use, also when 0 asked for any. */
export function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}
