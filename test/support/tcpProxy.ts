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
  /** Ends every connection. */
  cut(): void
  stop(): Promise<void>
}

export async function startTcpProxy(target: number): Promise<TcpProxy> {
  let mode: Parameters<TcpProxy['set']>[0] = 'pass'
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
    client.on('data', (data) => !hanging.has(client) && backend.write(data))
    backend.on('data', (data) => !hanging.has(client) && mode === 'pass' && client.write(data))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port is free')
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: address.port,
    set(next) {
      mode = next
      if (mode === 'hang') for (const socket of sockets) hanging.add(socket)
    },
    cut,
    async stop() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}
