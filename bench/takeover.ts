import { setTimeout as sleep } from 'node:timers/promises'
import { bar, type Figure } from './support/figure.js'
import { startFleet } from './support/platform.js'
import { type RelayChain, relayRequests, startRelayChain } from './support/relayChain.js'

const SERVERS = 4
const TTL_SECONDS = 10
/** The bar: so much longer than the lease. */
const LONGER_SECONDS = 5
/** Deaths of a server in each round. */
const DEATHS = 3
const CALLERS = 128
const PER_SECOND = 60
const SAMPLE_MS = 25
/** By then each account has transactions mined. */
const BEFORE_MS = 3_000
/** Twice the bar. */
const ROUND_MS = 2_000 * (TTL_SECONDS + LONGER_SECONDS)

/** How long a relayer's account has no transaction mined when its server dies. */
export const takeover: Figure = {
  name: 'takeover',
  title: 'A relayer account whose server dies',
  async prepare(context) {
    const chain = await startRelayChain(context)
    const addresses = chain.anvil.accounts.slice(0, SERVERS).map(({ address }) => address)
    const settings = {
      ...chain.settings(chain.anvil.accounts.slice(0, SERVERS)),
      LEASE_TTL: `${TTL_SECONDS}s`,
    }
    const fleet = await startFleet(context, SERVERS, settings)

    async function die(death: number): Promise<number> {
      const load = context.generator.load({
        ...relayRequests(await chain.newWrites((PER_SECOND * ROUND_MS) / 1_000)),
        urls: fleet.servers.map(({ url }) => url),
        connections: CALLERS,
        perSecond: PER_SECOND,
        durationMs: ROUND_MS,
        clients: {},
      })
      const killing = sleep(BEFORE_MS).then(() => fleet.servers[death % SERVERS]?.kill())
      const [longestMs] = await Promise.all([longestStandstill(chain, addresses), killing, load])
      await fleet.restart(death % SERVERS)
      return longestMs / 1_000
    }

    const deaths = context.options.rounds * DEATHS
    return {
      rows: {
        async 'stands still'(death) {
          const seconds = await die(death)
          return { seconds, 'most seconds': seconds }
        },
      },
      // Among fewer than a hundred deaths, the longest is the p99.
      bars: [bar('most seconds', 'stands still', { atMost: TTL_SECONDS + LONGER_SECONDS })],
      notes: [`${deaths} deaths by SIGKILL, LEASE_TTL ${TTL_SECONDS} s`],
      serialRounds: deaths,
    }
  },
}

/** Milliseconds that one of the accounts had no transaction mined in this round: the dead server's, as the others keep on. */
async function longestStandstill({ provider }: RelayChain, accounts: readonly string[]): Promise<number> {
  const startedAt = performance.now()
  const seen = accounts.map(() => ({ count: 0, at: startedAt }))
  let longest = 0
  for (let now = startedAt; now < startedAt + ROUND_MS; now = performance.now()) {
    const counts = await Promise.all(accounts.map((account) => provider.getTransactionCount(account)))
    for (const [index, count] of counts.entries()) {
      const last = seen[index]
      longest = Math.max(longest, now - (last?.at ?? now))
      if (count !== last?.count) seen[index] = { count, at: now }
    }
    await sleep(SAMPLE_MS)
  }
  return longest
}
