import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

type Mode = 'pass' | 'hang' | 'lose-answers'
export type TcpProxy = Awaited<ReturnType<typeof startTcpProxy>>

/** A proxy before a port of 127.0.0.1 whose connections fail as a network's do. */
export async function startTcpProxy(first: number) {
  let mode: Mode = 'pass'
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
    /** Whether its connections have failed or been delayed since, of `performance.now()`. */
    wasTroubled: (from: number) => mode !== 'pass' || delayMs > 0 || troubledAt >= from,
    /**
     * - `pass`: everything travels
     * - `hang`: connections stay open, and nothing travels in them any more, also after another mode is set
     * - `lose-answers`: only what the client sends travels
     */
    set(next: Mode) {
      mode = next
      if (mode === 'hang') for (const socket of sockets) hanging.add(socket)
    },
    /** Each piece of data takes so much longer in either direction. */
    delay(ms: number) {
      if (delayMs > 0) troubledAt = performance.now()
      delayMs = ms
    },
    /** Where connections go that are opened from now on. */
    retarget(next: number) {
      target = next
    },
    /** Ends every connection. */
    cut,
    async stop() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The port itself, whose connections pass nobody. */
export function direct(port: number): TcpProxy {
  const nothing = () => undefined
  const troubles = { set: nothing, delay: nothing, retarget: nothing, cut: nothing, wasTroubled: () => false }
  return { port, ...troubles, stop: async () => undefined }
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
