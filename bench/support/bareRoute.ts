import { z } from 'zod'
import { startHelper } from './childProcess.js'

export const bareRouteSchema = z.strictObject({
  method: z.enum(['GET', 'POST']),
  /** An Express path, such as `/orders/:orderId`. */
  path: z.string(),
  status: z.int(),
  /** What our route answers. */
  body: z.json(),
})
export type BareRoute = z.output<typeof bareRouteSchema>

const portSchema = z.strictObject({ port: z.int() })

/** The bare route in its own process. */
export interface BareServer {
  readonly url: string
  readonly pid: number
  stop(): Promise<void>
}

export async function startBareServer(route: BareRoute): Promise<BareServer> {
  const helper = startHelper('./bareServer.ts')
  const { port } = await helper.ask(route, portSchema)
  return { url: `http://127.0.0.1:${port}`, pid: helper.pid, stop: helper.stop }
}
