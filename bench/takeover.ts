import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { resultOf } from '../src/chain/jsonRpc.js'
import type { SandboxAccount } from '../src/sandbox/accounts.js'
import { cellOf, type Figure } from './support/figure.js'
import { startFleet } from './support/fleet.js'
import { startGenerator } from './support/load.js'
import {
  RELAY_HEADERS,
  type RelayChain,
  relayEnvironment,
  relayRequest,
  startRelayChain,
} from './support/relayChain.js'

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
    const { cleanUp, options } = context
    const chain = await startRelayChain(context)
    const accounts = chain.accounts.slice(0, SERVERS)
    const environment = { ...relayEnvironment(chain, accounts), LEASE_TTL: `${TTL_SECONDS}s` }
    const fleet = await startFleet(context, SERVERS, environment)

    async function die(death: number): Promise<number> {
      const generator = startGenerator(cleanUp)
      const nextWrites = await chain.portfolios((PER_SECOND * PATIENCE_MS) / 1_000)
      const load = generator.load({
        urls: fleet.servers.map(({ url }) => url),
        requests: nextWrites().map(relayRequest),
        headers: RELAY_HEADERS,
        connections: CALLERS,
        perSecond: PER_SECOND,
        durationMs: PATIENCE_MS,
        clients: {},
      })
      // It is ended in the middle.
      load.catch(() => undefined)
      const index = death % SERVERS
      const stillMs = await standstill(chain, accounts, async () => fleet.servers[index]?.kill())
      await generator.stop()
      await fleet.restart(index)
      return stillMs / 1_000
    }

    const row = 'stands still'
    return {
      rows: { [row]: async (death) => ({ seconds: await die(death) }) },
      // Among fewer than a hundred deaths, the longest is the p99.
      bars: [
        {
          what: 'p99, s',
          of: (round) => cellOf(round, row, 'seconds'),
          atMost: TTL_SECONDS + LONGER_SECONDS,
          isWorst: true,
        },
      ],
      notes: [`${options.rounds * DEATHS} deaths by SIGKILL, LEASE_TTL ${TTL_SECONDS} s`],
      serialRounds: options.rounds * DEATHS,
    }
  },
}

const countSchema = z.string().transform(Number)

/** Kills a server, and resolves with how long its account had no transaction mined. The other accounts never stand still. */
async function standstill(
  { rpc }: RelayChain,
  accounts: readonly SandboxAccount[],
  kill: () => Promise<void>,
): Promise<number> {
  const asks = accounts.map(({ address }) => ({
    method: 'eth_getTransactionCount',
    params: [address, 'latest'],
  }))
  /** Each account's transactions, and when one was mined last: NaN before it was seen. */
  const seen = accounts.map(() => ({ count: Number.NaN, at: Number.NaN }))
  let killing: Promise<void> | undefined
  for (const giveUpAt = Date.now() + PATIENCE_MS; Date.now() < giveUpAt; await sleep(SAMPLE_MS)) {
    const counts = (await rpc.send(asks)).map((answer) => resultOf(answer, countSchema))
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
