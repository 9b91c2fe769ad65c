import { compare, ratioBar, rowsOf, withPeers } from './support/compare.js'
import type { Figure } from './support/figure.js'
import type { LoadRequest } from './support/load.js'
import { BENCH_DIRECTORY } from './support/platform.js'
import {
  type RelayChain,
  relayHeaders,
  relayRequest,
  startRelayChain,
  withRelay,
} from './support/relayPlatform.js'

const CONNECTIONS = 64
const FORGERIES = 512
const ROUND_MS = 5_000
const STATUS = 422
const BAR = 1.5
/** As long as our answer. */
const REFUSAL = {
  type: 'https://example.invalid/errors#invalid-signature',
  title: 'Authorization not signed by the enclave',
  status: STATUS,
  code: 'invalid-signature',
  detail: "Sign the authorization with the enclave's signing key for this chain and contract.",
  requestId: '01234567-89ab-cdef-0123-456789abcdef',
}

/** Latency of a refusal, open loop at half of the server's saturation, beside routes that refuse without verifying. */
export const forgery: Figure = {
  name: 'forgery',
  title: 'Refused forgeries',
  async measure(context) {
    const chain = await startRelayChain()
    const route = { method: 'POST' as const, path: '/relay', status: STATUS, body: REFUSAL }
    try {
      return await withRelay(chain, context, { callers: CONNECTIONS }, ({ server, generator }) =>
        withPeers({ ...route, directory: BENCH_DIRECTORY, stores: false }, async (peers) => {
          const plan = {
            connections: CONNECTIONS,
            requests: forgeriesOn(chain),
            headers: relayHeaders(chain),
            durationMs: ROUND_MS,
            expectedStatus: STATUS,
          }
          // The first of both warms up.
          await generator.loadAll({ url: server.url, ...plan })
          const { perSecond: saturation } = await generator.loadAll({ url: server.url, ...plan })
          const perSecond = Math.floor(saturation / 2)
          const rounds = await compare({
            servers: { ours: server, ...peers },
            rounds: context.rounds,
            plan: () => ({ ...plan, perSecond }),
          })
          const p99 = { name: 'p99', of: ({ p99Ms }: { p99Ms: number }) => p99Ms }
          const bars = [ratioBar(rounds, 'bare', { atMost: BAR }, p99), ratioBar(rounds, 'plain', {}, p99)]
          const notes = [
            `open loop, ${perSecond} a second: half of the ${saturation.toFixed(0)} that ${CONNECTIONS} callers get who wait`,
          ]
          return { rows: rowsOf(rounds), bars, notes, rounds: { saturation, rounds } }
        }),
      )
    } finally {
      await chain.stop()
    }
  },
}

/** Each with another one's signature: good in form, and by some other signer. */
function forgeriesOn(chain: RelayChain): LoadRequest[] {
  const authorizations = chain.authorizations(FORGERIES)
  chain.forget(FORGERIES)
  return authorizations.map((authorization, index) => {
    const { signature } = authorizations.at(index - 1) ?? authorization
    return relayRequest({ ...authorization, signature })
  })
}
