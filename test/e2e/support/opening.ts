import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { clientOrderIdOf } from '../../../src/protocol/identifiers.js'
import type { Sandbox } from '../../../src/sandbox/sandbox.js'
import type { SeenRequest } from '../../../src/simulator/index.js'
import { startBrokerTally } from '../../support/brokerTally.js'
import { createCrowd, openRounds, readStatuses, type UnpostedOrder } from '../../support/crowd.js'
import type { EscrowReader } from '../../support/escrowReader.js'
import { withTradingSandbox } from '../../support/tradingSandbox.js'
import { faultsOfEnds, faultsOfPlacements, postAll, progressOf } from './manyOrders.js'

export interface OpeningOptions {
  readonly directory: string
  readonly accounts: number
  /** In all, the same number for each account; twenty at most. */
  readonly orders: number
  /** The market opens after so many; when not all orders are queued by then, it stays closed for as long again. */
  readonly closedSeconds: number
  /** The broker's limit from the opening on. */
  readonly perMinute: number
  readonly print: (line: string) => void
}

/** The findings of a run. */
export interface OpeningReport {
  readonly orders: number
  /** Placed in each minute from the opening on. */
  readonly placed: readonly number[]
  /** Requests to the broker in the same minutes; the first has those before the opening, too. */
  readonly requests: readonly number[]
  /** Orders that were not placed at their turn. */
  readonly outOfOrder: readonly string[]
  /** Every other broken rule. */
  readonly violations: readonly string[]
}

const LOOK_MS = 1_000
/** Before the opening, so that all are known to be queued. */
const LEAST_LEFT_MS = 5_000
/** None ends while the broker's minute is used up, or while a lost run is waited for. */
const STALL_MS = 300_000
const MINUTE_MS = 60_000
const MS_PER_SECOND = 1_000
const placementSchema = z.object({ client_order_id: z.string() })

/**
 * Posts orders while the market is closed, and compares the placements after its opening with the order of the escrows and with
 * the broker's limit. Needs `npm run build`.
 */
export function runOpening(options: OpeningOptions): Promise<OpeningReport> {
  const { directory } = options
  return withTradingSandbox({ directory }, (sandbox, reader) => run(options, sandbox, reader))
}

async function run(options: OpeningOptions, sandbox: Sandbox, reader: EscrowReader): Promise<OpeningReport> {
  const { accounts, orders: count, closedSeconds, perMinute, print } = options
  const { broker, info } = sandbox
  const crowd = await createCrowd(sandbox, accounts)
  const orders = await openRounds(sandbox, crowd, count / accounts)
  const tally = startBrokerTally(broker)
  const close = () => {
    const at = Date.now() + closedSeconds * MS_PER_SECOND
    broker.clock({ open: false, nextOpen: new Date(at).toISOString() })
    return at
  }
  let opensAt = close()
  await postAll(sandbox, orders)
  const placed = () => tally.requests.filter(isPlacement)
  // One that is placed or ends now shows below.
  const hasBegun = () =>
    placed().length > 0 || orders.some(({ orderId }) => reader.orders.get(orderId)?.ends[0])
  for (let queued = 0; queued < orders.length && !hasBegun(); ) {
    await sleep(LOOK_MS)
    if (opensAt - Date.now() < LEAST_LEFT_MS) opensAt = close()
    const statuses = await readStatuses(info.url, orders)
    queued = statuses.filter(({ triggers }) => triggers.at(-1)?.outcome === 'queued').length
  }
  print(`${orders.length} are queued, and the market opens in ${secondsUntil(opensAt)} s`)
  broker.limit({ perMinute })
  await reader.untilEnded(
    orders.map(({ orderId }) => orderId),
    { stallMs: closedSeconds * MS_PER_SECOND + STALL_MS, onBlock: progressOf(orders.length, print) },
  )
  tally.stop()
  const placements = placed()
  const violations = [
    ...faultsOfEnds(reader, orders),
    ...faultsOfPlacements(sandbox, orders),
    ...faultsOfPace(tally.requests, placements, opensAt),
  ]
  return {
    orders: orders.length,
    placed: byMinute(placements, opensAt),
    requests: byMinute(tally.requests, opensAt),
    outOfOrder: findOutOfOrder(reader, orders, placements, {
      accounts,
      // Each is looked up and sent.
      perMinute: perMinute / 2,
    }),
    violations,
  }
}

/**
 * Those of an account must be placed in the order of their escrows. Accounts take turns, and each had its escrows opened in turn: an order
 * is not further from its place than there are accounts. An account that the limit puts off comes later by what a minute carries.
 *
 * @param perMinute orders that the limit allows
 */
function findOutOfOrder(
  reader: EscrowReader,
  orders: readonly UnpostedOrder[],
  placements: readonly SeenRequest[],
  { accounts, perMinute }: { accounts: number; perMinute: number },
): string[] {
  const own = new Map(orders.map((order) => [order.orderId, order]))
  // The reader has seen them in the order of the chain's events.
  const opened = [...reader.orders.keys()].flatMap((orderId) => own.get(orderId) ?? [])
  const places = new Map(
    placements.map(({ body }, place) => [placementSchema.parse(body).client_order_id, place]),
  )
  const lastOf = new Map<string, number>()
  const furthest = Math.max(accounts, orders.length > perMinute ? perMinute : 0)
  return opened.flatMap(({ orderId, account }, expected) => {
    const place = places.get(clientOrderIdOf(orderId))
    if (place === undefined) return [`${orderId} was never placed`]
    const before = lastOf.get(account) ?? -1
    lastOf.set(account, place)
    if (place < before) return [`${orderId} was placed before an earlier order of its account`]
    return Math.abs(place - expected) <= furthest
      ? []
      : [`${orderId} was placed as number ${place}, in place of ${expected}`]
  })
}

/** The broker refuses no request, and has no order before the market opens. */
function faultsOfPace(
  requests: readonly SeenRequest[],
  placements: readonly SeenRequest[],
  opensAt: number,
): string[] {
  const refused = requests.filter(({ outcome }) => outcome === 429).length
  const early = placements.filter(({ at }) => Date.parse(at) < opensAt).length
  return [
    ...(refused > 0 ? [`${refused} requests were refused by the broker's limit`] : []),
    ...(early > 0 ? [`${early} orders were placed while the market was closed`] : []),
  ]
}

function isPlacement({ method, url, outcome }: SeenRequest): boolean {
  return method === 'POST' && url === '/v2/orders' && outcome === 200
}

function secondsUntil(at: number): number {
  return Math.round((at - Date.now()) / MS_PER_SECOND)
}

function byMinute(requests: readonly SeenRequest[], from: number): number[] {
  const counts: number[] = []
  for (const { at } of requests) {
    const minute = Math.max(0, Math.floor((Date.parse(at) - from) / MINUTE_MS))
    while (counts.length <= minute) counts.push(0)
    counts[minute] = (counts[minute] ?? 0) + 1
  }
  return counts
}
