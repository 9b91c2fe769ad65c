import { type Figure, ratio } from './support/figure.js'
import { besidePeers } from './support/peers.js'
import { RELAY_HEADERS, relayRequest, startRelayChain, startRelayServer } from './support/relayChain.js'

const CONNECTIONS = 64
const FORGERIES = 512
const ROUND_MS = 5_000
const STATUS = 422
const BAR = 1.5
/** As the other figures of requests have them. Each block costs the server work of its own, and no refusal asks for one. */
const BLOCK_SECONDS = 1

/** Latency of a refusal, open loop at half of the server's saturation, beside routes that refuse without verifying. */
export const forgery: Figure = {
  name: 'forgery',
  title: 'Refused forgeries',
  async prepare(context) {
    const { generator } = context
    const chain = await startRelayChain(context, BLOCK_SECONDS)
    const server = await startRelayServer(chain, context, chain.accounts.slice(0, 1))
    const authorizations = (await chain.portfolios(FORGERIES))()
    const plan = {
      connections: CONNECTIONS,
      // Each with another one's signature: good in form, and by some other signer.
      requests: authorizations.map((authorization, index) =>
        relayRequest({ ...authorization, signature: authorizations.at(index - 1)?.signature ?? '0x' }),
      ),
      headers: RELAY_HEADERS,
      durationMs: ROUND_MS,
      expectedStatus: STATUS,
    }
    // The first of both warms up.
    await generator.loadAll({ urls: [server.url], ...plan })
    const { perSecond: saturation } = await generator.loadAll({ urls: [server.url], ...plan })
    const perSecond = Math.floor(saturation / 2)
    const rows = await besidePeers(context, {
      servers: { ours: server },
      path: '/relay',
      plan: () => ({ ...plan, perSecond }),
    })
    return {
      rows,
      bars: [ratio('p99 ms', 'ours', 'bare', { atMost: BAR }), ratio('p99 ms', 'ours', 'plain')],
      notes: [
        `open loop, ${perSecond} a second: half of the ${saturation.toFixed(0)} that ${CONNECTIONS} callers get who wait`,
      ],
    }
  },
}
