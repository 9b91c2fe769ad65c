import { z } from 'zod'
import { type Peer, startPeer } from './peer.js'

export const bareRouteSchema = z.strictObject({
  method: z.enum(['GET', 'POST']),
  /** An Express path, such as `/orders/:orderId`. */
  path: z.string(),
  status: z.int(),
  /** What our route answers. */
  body: z.json(),
})
export type BareRoute = z.output<typeof bareRouteSchema>

/** The bare route in its own process. */
export function startBareServer(route: BareRoute): Promise<Peer> {
  return startPeer('./bareServer.ts', route)
}
