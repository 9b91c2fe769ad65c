import { setTimeout as sleep } from 'node:timers/promises'
import { bar, type Figure } from './support/figure.js'
import { startGenerator } from './support/load.js'
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
/** Longer than any account of a living server goes without a mined transaction under this load. */
const STILL_MS = 5_000
const PATIENCE_MS = 60_000

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
      const own = new AsyncDisposableStack()
      const load = startGenerator(own).load({
        ...relayRequests((await chain.portfolios((PER_SECOND * PATIENCE_MS) / 1_000))()),
        urls: fleet.servers.map(({ url }) => url),
        connections: CALLERS,
        perSecond: PER_SECOND,
        durationMs: PATIENCE_MS,
        clients: {},
      })
      // The generator is killed in mid-load.
      load.catch(() => undefined)
      const index = death % SERVERS
      const stillMs = await standstill(chain, addresses, async () => fleet.servers[index]?.kill())
      await own.disposeAsync()
      await fleet.restart(index)
      return stillMs / 1_000
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

/** Kills a server, and resolves with how long its account had no transaction mined. The other accounts never stand still. */
async function standstill(
  { provider }: RelayChain,
  accounts: readonly string[],
  kill: () => Promise<void>,
): Promise<number> {
  /** Each account's transactions, and when the last one was mined: NaN before one was seen. */
  const seen = accounts.map(() => ({ count: Number.NaN, at: Number.NaN }))
  let killing: Promise<void> | undefined
  for (const giveUpAt = Date.now() + PATIENCE_MS; Date.now() < giveUpAt; await sleep(SAMPLE_MS)) {
    const counts = await Promise.all(accounts.map((account) => provider.getTransactionCount(account)))
    const now = performance.now()
    for (const [index, last] of seen.entries()) {
      const count = counts[index] ?? Number.NaN
      if (count === last.count) continue
      const stillMs = now - last.at
      seen[index] = { count, at: Number.isNaN(last.count) ? Number.NaN : now }
      if (killing === undefined || !(stillMs >= STILL_MS)) continue
      await killing
      return stillMs
    }
    if (!seen.some(({ at }) => Number.isNaN(at))) killing ??= kill()
  }
  throw new Error('the account of the dead server stands still')
}
