import { z } from 'zod'
import { compare, ratioBar, rowsOf, withPeers } from './support/compare.js'
import type { Figure } from './support/figure.js'
import { openOrders, postAll } from './support/openOrders.js'
import type { Platform } from './support/platform.js'

/** One account's. */
const ORDERS = 20

interface Read {
  readonly name: string
  /** Express path of the peers' route. */
  readonly route: string
  /** The least requests per second, by those of the bare route. */
  readonly bar: number
  readonly note: string
  /** Paths to ask for, in turn. */
  paths(platform: Platform): readonly string[] | Promise<readonly string[]>
}

/** Each beside two peers that answer the same body from memory. */
export const reads: readonly Figure[] = [
  readFigure({
    name: 'health',
    route: '/health',
    bar: 0.8,
    note: 'from memory: the server asks neither chain nor broker',
    paths: () => ['/health'],
  }),
  readFigure({
    name: 'market',
    route: '/market',
    bar: 0.8,
    note: 'one answer of the broker serves all requests of two seconds (MARKET_MAX_AGE)',
    paths: () => ['/market'],
  }),
  readFigure({
    name: 'wallet',
    route: '/wallet/:address',
    bar: 0.7,
    note: 'the server reads each wallet once for each block; the chain makes one a second',
    paths: ({ sandbox }) => sandbox.accounts.employees.map(({ address }) => `/wallet/${address}`),
  }),
  readFigure({
    name: 'order-status',
    route: '/orders/:orderId',
    bar: 0.7,
    note: 'the server reads each escrow once for each block (one a second), and each record when it was written',
    paths: openAndPost,
  }),
]

function readFigure({ name, route, bar, note, paths }: Read): Figure {
  const title = `GET ${route}`
  return {
    name,
    title,
    async measure({ platform, rounds, roundMs, connections }) {
      const { sandbox, server } = await platform()
      const asked = await paths(await platform())
      const requests = asked.map((path) => ({ method: 'GET' as const, path }))
      const body = await bodyOf(`${server.url}${asked[0] ?? ''}`)
      const peerRoute = { method: 'GET' as const, path: route, status: 200, body }
      return withPeers({ ...peerRoute, directory: sandbox.directory, stores: false }, async (peers) => {
        const servers = { ours: server, ...peers }
        const plan = { connections, requests, durationMs: roundMs, polls: true }
        const measured = await compare({ servers, rounds, plan: () => plan })
        return {
          rows: rowsOf(measured),
          bars: [ratioBar(measured, 'bare', { atLeast: bar }), ratioBar(measured, 'plain')],
          notes: [note, `medians of ${rounds} rounds in turns, ${connections} connections, closed loop`],
          rounds: measured,
        }
      })
    },
  }
}

async function bodyOf(url: string) {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  return z.json().parse(await response.json())
}

async function openAndPost({ sandbox, server }: Platform): Promise<string[]> {
  const opened = await openOrders(sandbox, ORDERS)
  await postAll(server.url, opened)
  return opened.map(({ orderId }) => `/orders/${orderId}`)
}
