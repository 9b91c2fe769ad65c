import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A proxy before a port of 127.0.0.1 whose connections fail as a network's do. */
export interface TcpProxy {
  readonly port: number
  /**
   * - `pass`: everything travels
   * - `hang`: connections stay open, and nothing travels in them any more, also after another mode is set
   * - `lose-answers`: only what the client sends travels
   */
  set(mode: 'pass' | 'hang' | 'lose-answers'): void
  /** Each piece of data takes so much longer in either direction. */
  delay(ms: number): void
  /** Where connections go that are opened from now on. */
  retarget(port: number): void
  /** Ends every connection. */
  cut(): void
  /** Whether its connections have failed or been delayed since, of `performance.now()`. */
  wasTroubled(from: number): boolean
  stop(): Promise<void>
}

export async function startTcpProxy(first: number): Promise<TcpProxy> {
  let mode: Parameters<TcpProxy['set']>[0] = 'pass'
  let target = first
  let delayMs = 0
  let troubledAt = Number.NEGATIVE_INFINITY
  const sockets = new Set<Socket>()
  /** Those whose connections hang. */
  const hanging = new WeakSet<Socket>()

  function keep(socket: Socket, peer: Socket): void {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      sockets.delete(socket)
      peer.destroy()
    })
  }

  const server = createServer((client) => {
    const backend = connect(target, '127.0.0.1')
    keep(client, backend)
    keep(backend, client)
    if (mode === 'hang') hanging.add(client)
    const there = createTravel(backend)
    const back = createTravel(client)
    client.on('data', (data) => !hanging.has(client) && there(data, delayMs))
    backend.on('data', (data) => !hanging.has(client) && mode === 'pass' && back(data, delayMs))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port is free')
  const cut = () => {
    troubledAt = performance.now()
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: address.port,
    wasTroubled: (from) => mode !== 'pass' || delayMs > 0 || troubledAt >= from,
    set(next) {
      mode = next
      if (mode === 'hang') for (const socket of sockets) hanging.add(socket)
    },
    delay(ms) {
      if (delayMs > 0) troubledAt = performance.now()
      delayMs = ms
    },
    retarget(next) {
      target = next
    },
    cut,
    async stop() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Keeps the order of what is written, whatever its delays. */
function createTravel(to: Socket): (data: Buffer | string, delayMs: number) => void {
  let arrivesAt = 0
  return (data, delayMs) => {
    const now = performance.now()
    if (delayMs === 0 && arrivesAt < now) return void to.write(data)
    arrivesAt = Math.max(arrivesAt + 1, now + delayMs)
    setTimeout(() => to.write(data), arrivesAt - now)
  }
}
