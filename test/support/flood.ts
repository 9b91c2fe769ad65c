// One client that holds many connections and pipelines requests on each: as each answer comes, it sends another request.
import { connect, type Socket } from 'node:net'

interface FloodOptions {
  /** The server's. */
  readonly url: string
  /** A loopback address, which is one client to the server. */
  readonly localAddress: string
  readonly connections: number
  /** Requests under way on each connection. */
  readonly depth: number
  /** The bytes of the next request. */
  readonly request: () => string
  /** Whether the client opens a connection anew when the server has closed it. */
  readonly reconnects?: boolean
}

const STATUS_LINE = /HTTP\/1\.1 (\d{3}) /g
/** One character less than a status line's beginning, which may come in two parts. */
const TAIL = 'HTTP/1.1 200'.length
const RECONNECT_MS = 100

export function startFlood({ url, localAddress, connections, depth, request, reconnects }: FloodOptions) {
  const { hostname, port } = new URL(url)
  const counts = new Map<number, number>()
  const open = new Set<Socket>()
  let opened = 0
  let isStopped = false

  function start(): void {
    if (isStopped) return
    const socket = connect({ host: hostname, port: Number(port), localAddress })
    open.add(socket)
    opened++
    let tail = ''
    socket.setNoDelay(true).setEncoding('latin1')
    socket.on('connect', () => send(socket, depth))
    socket.on('data', (part: string) => {
      const text = tail + part
      let answered = 0
      for (const [, digits] of text.matchAll(STATUS_LINE)) {
        const status = Number(digits)
        counts.set(status, (counts.get(status) ?? 0) + 1)
        answered++
      }
      tail = text.slice(-TAIL)
      send(socket, answered)
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      open.delete(socket)
      if (reconnects) setTimeout(start, RECONNECT_MS)
    })
  }

  function send(socket: Socket, count: number): void {
    if (count > 0 && socket.writable) socket.write(Array.from({ length: count }, request).join(''))
  }

  for (let n = 0; n < connections; n++) start()
  return {
    /** Answers so far, by status. */
    answers: (): ReadonlyMap<number, number> => counts,
    /** Connections that the server holds. */
    held: () => open.size,
    /** Connections that the client has opened so far. */
    opened: () => opened,
    /** Hangs up. */
    stop() {
      isStopped = true
      for (const socket of open) socket.destroy()
    },
  }
}

/** A request as it goes over the wire. */
export function wire(
  method: 'GET' | 'POST',
  path: string,
  body = '',
  headers: Readonly<Record<string, string>> = {},
): string {
  const length = Buffer.byteLength(body)
  const about = body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${length}\r\n`
  const others = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${others.join('')}${about}\r\n${body}`
}
