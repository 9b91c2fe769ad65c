import { type Figure, ratio } from './support/figure.js'
import { besidePeers } from './support/peers.js'
import { startServerBeside } from './support/platform.js'
import { relayRequests, startRelayChain } from './support/relayChain.js'

const CONNECTIONS = 64
const FORGERIES = 512
const ROUND_MS = 5_000
const BAR = 1.5
/** As in the other figures of requests. Each block costs the server work of its own, and no refusal needs one. */
const BLOCK_SECONDS = 1

/** Latency of a refusal, open loop at half of the server's saturation, beside routes that refuse without verifying. */
export const forgery: Figure = {
  name: 'forgery',
  title: 'Refused forgeries',
  async prepare(context) {
    const { loadAll } = context.generator
    const chain = await startRelayChain(context, BLOCK_SECONDS)
    const server = await startServerBeside(context, chain.settings(chain.anvil.accounts.slice(0, 1)))
    const authorizations = (await chain.portfolios(FORGERIES))()
    // Each with another one's signature: well formed, and by another signer.
    const forged = authorizations.map((authorization, index) => ({
      ...authorization,
      signature: authorizations.at(index - 1)?.signature ?? '0x',
    }))
    const plan = {
      ...relayRequests(forged),
      connections: CONNECTIONS,
      durationMs: ROUND_MS,
      expectedStatus: 422,
    }
    // The first of both warms up.
    await loadAll({ urls: [server.url], ...plan })
    const { perSecond: saturation } = await loadAll({ urls: [server.url], ...plan })
    const perSecond = Math.floor(saturation / 2)
    return {
      rows: await besidePeers(context, '/relay', { ours: server }, () => ({ ...plan, perSecond })),
      bars: [ratio('p99 ms', 'ours', 'bare', { atMost: BAR }), ratio('p99 ms', 'ours', 'plain')],
      notes: [
        `open loop, ${perSecond} a second: half of the ${saturation.toFixed(0)} of ${CONNECTIONS} callers in a closed loop`,
      ],
    }
  },
}
