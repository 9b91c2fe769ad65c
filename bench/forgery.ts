import { load, type RelayBench, requestOf, withRelay } from './relay.js'
import type { BareRoute } from './support/bareRoute.js'
import { startBareServer } from './support/bareRoute.js'
import type { Target } from './support/compare.js'
import type { Figure, LatencyRow } from './support/figure.js'
import type { LoadRequest, LoadResult } from './support/load.js'
import { spreadOf } from './support/statistics.js'

const CONNECTIONS = 64
const FORGERIES = 512
const ROUND_MS = 5_000
const STATUS = 422
const GOAL = 1.5
/** As long as our answer. */
const REFUSING: BareRoute = {
  method: 'POST',
  path: '/relay',
  status: STATUS,
  body: {
    type: 'https://example.invalid/docs/errors.md#invalid-signature',
    title: 'Authorization not signed by the enclave',
    status: STATUS,
    code: 'invalid-signature',
    detail: "Sign the authorization with the enclave's signing key for this chain and contract.",
    requestId: '01234567-89ab-cdef-0123-456789abcdef',
  },
}

/** What the server takes to refuse a forgery, open loop at half of its saturation, beside a route that refuses unread. */
export const forgery: Figure = {
  name: 'forgery',
  title: 'Refused forgeries',
  measure: (context) =>
    withRelay(context, CONNECTIONS, async (bench) => {
      const refusing = await startBareServer(REFUSING)
      try {
        const requests = forgeriesOf(bench)
        const send = (target: Pick<Target, 'url'>, perSecond?: number) => {
          const pace = perSecond === undefined ? {} : { perSecond }
          const plan = { connections: CONNECTIONS, requests, durationMs: ROUND_MS, expectedStatus: STATUS }
          return load(bench, target.url, { ...plan, ...pace })
        }
        // The first of each warms up.
        await send(bench.ours)
        await send(refusing)
        const { perSecond: saturation } = await send(bench.ours)
        const perSecond = Math.floor(saturation / 2)
        const rounds: { ours: LoadResult; bare: LoadResult }[] = []
        for (let round = 1; round <= context.rounds.rounds; round++) {
          rounds.push({ ours: await send(bench.ours, perSecond), bare: await send(refusing, perSecond) })
        }
        const { median, min, max } = spreadOf(rounds.map(({ ours, bare }) => ours.p99Ms / bare.p99Ms))
        const reached = median <= GOAL ? 'met' : 'missed'
        const spread = `${min.toFixed(2)}..${max.toFixed(2)}`
        const rows = [
          rowOf(
            'refused by us',
            rounds.map(({ ours }) => ours),
          ),
          rowOf(
            'refused unread by a bare route',
            rounds.map(({ bare }) => bare),
          ),
        ]
        const notes = [
          `p99, ours by bare: ${median.toFixed(2)} (${spread}), goal: ${GOAL}, ${reached}`,
          `open loop, ${perSecond} a second, half of the ${saturation.toFixed(0)} that ${CONNECTIONS} callers who wait get`,
        ]
        return { kind: 'latencies' as const, rows, notes }
      } finally {
        await refusing.stop()
      }
    }),
}

/** Each with another one's signature: good in form, and by some other signer. */
function forgeriesOf({ chain }: RelayBench): LoadRequest[] {
  const authorizations = chain.authorizations(FORGERIES)
  chain.forget(FORGERIES)
  return authorizations.map((authorization, index) => {
    const { signature } = authorizations.at(index - 1) ?? authorization
    return requestOf({ ...authorization, signature })
  })
}

function rowOf(what: string, rounds: readonly LoadResult[]): LatencyRow {
  const medianOf = (of: (result: LoadResult) => number) => spreadOf(rounds.map(of)).median
  return { what, p50Ms: medianOf(({ p50Ms }) => p50Ms), p99Ms: medianOf(({ p99Ms }) => p99Ms) }
}
