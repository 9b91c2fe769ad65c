import { type Figure, ratio } from './support/figure.js'
import { openAndPost } from './support/orders.js'
import { besidePeers } from './support/peers.js'
import { type Platform, startPlatform } from './support/platform.js'

const CONNECTIONS = 64
/** The warm-up lasts this many rounds: the JIT compiler optimizes code that has run a few thousand times. */
const WARM_UP_ROUNDS = 3

/** Each beside two peers that answer the same body from memory. */
export const reads: readonly Figure[] = [
  readFigure('health', '/health', async () => ['/health']),
  readFigure('market', '/market', async () => ['/market']),
  readFigure('wallet', '/wallet/:address', async ({ sandbox }) =>
    sandbox.accounts.employees.map(({ address }) => `/wallet/${address}`),
  ),
  readFigure('order-status', '/orders/:orderId', async (platform) =>
    (await openAndPost(platform, 20)).map(({ orderId }) => `/orders/${orderId}`),
  ),
]

/**
 * @param path the peers' Express path
 * @param pathsOf paths to ask for, in turn
 */
function readFigure(
  name: string,
  path: string,
  pathsOf: (platform: Platform) => Promise<readonly string[]>,
): Figure {
  return {
    name,
    title: `GET ${path}`,
    async prepare(context) {
      const platform = await startPlatform(context)
      const requests = (await pathsOf(platform)).map((asked) => ({ method: 'GET' as const, path: asked }))
      const roundMs = context.options.seconds * 1_000
      const rows = await besidePeers(context, path, { ours: platform.server }, (round) => ({
        connections: CONNECTIONS,
        requests,
        expectedStatus: 200,
        durationMs: round === 0 ? WARM_UP_ROUNDS * roundMs : roundMs,
      }))
      const bars = [ratio('requests/s', 'ours', 'plain', { atLeast: 1 }), ratio('requests/s', 'ours', 'bare')]
      return { rows, bars, notes: [] }
    },
  }
}
