import { readStatuses } from '../test/support/crowd.js'
import { type Figure, ratio } from './support/figure.js'
import { openOrders, postRequest } from './support/openOrders.js'
import { besidePeers } from './support/peers.js'
import { settingsBeside, startDatabase, startServer } from './support/platform.js'
import { untilQuiet } from './support/processes.js'

/** Each is posted once. */
const ORDERS_PER_ROUND = 3_072
/** Fewer would wait for the disk, and the server with them. */
const CALLERS = 256
const BARS = { bare: 0.6, plain: 1.5, sqlite: 0.8 }

export const orders: Figure = {
  name: 'orders',
  title: 'POST /orders',
  async prepare(context) {
    const { print, options } = context
    const { sandbox, server: ours } = await context.platform()
    const { DATABASE_URL } = await startDatabase(context)
    const PostgreSQL = await startServer(context, { ...settingsBeside(sandbox), DATABASE_URL })
    const count = ORDERS_PER_ROUND * (1 + options.rounds)
    print(`opening ${count} escrows`)
    const opened = await openOrders(sandbox, count)
    // The servers follow the openings on the chain, which is no part of POST /orders.
    await untilQuiet(ours, PostgreSQL)
    const rows = await besidePeers(context, {
      servers: { ours, PostgreSQL },
      path: '/orders',
      stores: true,
      plan: (round) => ({
        connections: CALLERS,
        requests: opened.slice(round * ORDERS_PER_ROUND, (round + 1) * ORDERS_PER_ROUND).map(postRequest),
        durationMs: null,
        expectedStatus: 202,
      }),
    })
    return {
      rows,
      bars: [
        ratio('requests/s', 'ours', 'bare', { atLeast: BARS.bare }),
        ratio('requests/s', 'ours', 'plain', { atLeast: BARS.plain }),
        ratio('requests/s', 'PostgreSQL', 'ours', { atLeast: BARS.sqlite }),
      ],
      notes: [
        'ours: on SQLite; PostgreSQL: the same server on a database of its own',
        `${ORDERS_PER_ROUND} orders a round, ${CALLERS} callers; all found stored afterwards`,
      ],
      async verify() {
        for (const { url } of [ours, PostgreSQL]) {
          // A server does not keep an order that another server's enclave has ended before it came.
          const statuses = await readStatuses(url, opened)
          const lost = statuses.filter(
            ({ receivedAt, state }) => receivedAt === null && state === 'OPEN',
          ).length
          if (lost > 0) throw new Error(`${lost} of ${count} orders were answered 202 and are not stored`)
        }
      },
    }
  },
}
