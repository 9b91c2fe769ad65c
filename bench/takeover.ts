import { setTimeout as sleep } from 'node:timers/promises'
import { bar, type Figure } from './support/figure.js'
import { startGenerator } from './support/load.js'
import { startFleet } from './support/platform.js'
import { type RelayChain, relayRequests, startRelayChain } from './support/relayChain.js'

const SERVERS = 2
const TTL_SECONDS = 10
/** The bar: so much longer than the lease. */
const LONGER_SECONDS = 5
/** Deaths of a server in each round. */
const DEATHS = 3
const CALLERS = 128
const PER_SECOND = 60
const SAMPLE_MS = 25
/** Longer than the account of a living server goes without a mined transaction under this load. */
const STILL_MS = 5_000
const PATIENCE_MS = 60_000

/** How long the relayer's account has no transaction mined when its server dies. */
export const takeover: Figure = {
  name: 'takeover',
  title: 'The relayer account when its server dies',
  async prepare(context) {
    const chain = await startRelayChain(context)
    const [relayer] = chain.anvil.accounts
    if (relayer === undefined) throw new Error('the chain has no account')
    const account = relayer.address
    const settings = { ...chain.settings(relayer), LEASE_TTL: `${TTL_SECONDS}s` }
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
      // The first to start has the account, and the other one after each death.
      const index = death % SERVERS
      const stillMs = await standstill(chain, account, async () => fleet.servers[index]?.kill())
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

/** Kills the account's server, and resolves with how long the account had no transaction mined. */
async function standstill(
  { provider }: RelayChain,
  account: string,
  kill: () => Promise<void>,
): Promise<number> {
  let last = await provider.getTransactionCount(account)
  let minedAt: number | undefined
  let killing: Promise<void> | undefined
  for (const giveUpAt = Date.now() + PATIENCE_MS; Date.now() < giveUpAt; await sleep(SAMPLE_MS)) {
    const count = await provider.getTransactionCount(account)
    const now = performance.now()
    if (count === last) continue
    const stillMs = now - (minedAt ?? now)
    last = count
    minedAt = now
    if (killing !== undefined && stillMs >= STILL_MS) {
      await killing
      return stillMs
    }
    killing ??= kill()
  }
  throw new Error('the account of the dead server stands still')
}
