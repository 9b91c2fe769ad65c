import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { z } from 'zod'
import { portOf } from '../../src/server/http/listener.js'
import { startHelper } from './childProcess.js'

// A server that ours is compared with, in a process of its own.

const portSchema = z.strictObject({ port: z.int() })

export interface Peer {
  readonly url: string
  readonly pid: number
  stop(): Promise<void>
}

/** @param program beside this file; it calls `servePeer` */
export async function startPeer(program: string, task: object): Promise<Peer> {
  const helper = startHelper(program)
  const { port } = await helper.ask(task, portSchema)
  return { url: `http://127.0.0.1:${port}`, pid: helper.pid, stop: helper.stop }
}

/** Serves what the task says, until the bench hangs up. */
export function servePeer<T>(schema: z.ZodType<T>, appOf: (task: T) => RequestListener): void {
  process.on('message', async (message) => {
    const server = createServer(appOf(schema.parse(message)))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    process.send?.({ port: portOf(server) })
  })
  process.on('disconnect', () => process.exit(0))
}
