import { getFrom } from './support/clients.js'
import { readStatuses } from './support/crowd.js'
import { type Figure, ratio } from './support/figure.js'
import { openOrders, postRequest } from './support/orders.js'
import { besidePeers } from './support/peers.js'
import { settingsBeside, startFleet, startPlatform } from './support/platform.js'
import { untilQuiet } from './support/processes.js'

/** Each is posted once. */
const ORDERS_PER_ROUND = 3_072
/** Fewer would wait for the disk, and the server with them. */
const CALLERS = 256
const BARS = { plain: 1, sqlite: 0.8 }

export const orders: Figure = {
  name: 'orders',
  title: 'POST /orders',
  async prepare(context) {
    const { sandbox, server: ours } = await startPlatform(context)
    const fleet = await startFleet(context, 1, settingsBeside(sandbox))
    const opened = await openOrders(sandbox, ORDERS_PER_ROUND * (1 + context.options.rounds))
    const servers = { ours, PostgreSQL: fleet.servers[0] ?? ours }
    // The servers follow the openings on the chain, which is no part of POST /orders.
    await untilQuiet(...Object.values(servers))
    const rows = await besidePeers(context, '/orders', servers, (round) => ({
      connections: CALLERS,
      requests: opened.slice(round * ORDERS_PER_ROUND, (round + 1) * ORDERS_PER_ROUND).map(postRequest),
      durationMs: null,
      expectedStatus: 202,
    }))
    return {
      rows,
      bars: [
        ratio('requests/s', 'ours', 'plain', { atLeast: BARS.plain }),
        ratio('requests/s', 'ours', 'bare'),
        ratio('requests/s', 'PostgreSQL', 'ours', { atLeast: BARS.sqlite }),
      ],
      notes: [
        'ours: on SQLite; PostgreSQL: the same server on a database of its own',
        `${ORDERS_PER_ROUND} orders a round, ${CALLERS} callers; all found stored afterwards`,
      ],
      async verify() {
        for (const { url } of Object.values(servers)) {
          const statuses = await readStatuses(url, opened, (at, client) => getFrom(client, at))
          // A server does not keep an order that another server's enclave has ended before it came.
          const lost = statuses.filter(({ receivedAt, state }) => receivedAt === null && state === 'OPEN')
          if (lost.length > 0) throw new Error(`${lost.length} orders were answered 202 and are not stored`)
        }
      },
    }
  },
}
