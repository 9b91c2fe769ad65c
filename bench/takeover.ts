import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { resultOf } from '../src/chain/jsonRpc.js'
import { receiptSchema } from '../src/protocol/api.js'
import type { Figure } from './support/figure.js'
import { type Fleet, startRelayFleet } from './support/fleet.js'
import { type RelayChain, relayHeaders, relayRequest, startRelayChain } from './support/relayPlatform.js'
import { quantile, spreadOf } from './support/statistics.js'

const SERVERS = 4
const TTL_MS = 10_000
/** The bar: so much longer than the lease. */
const LONGER_MS = 5_000
/** Deaths of a server in each round. */
const DEATHS = 3
/** Room in the relay. */
const CALLERS = 128
const WORKERS = 32
const WORKER_PAUSE_MS = 200
const SAMPLE_MS = 25
/** Longer than any account of a living server goes without a mined transaction under this load. */
const STILL_MS = 5_000
const PATIENCE_MS = 60_000
const MS_PER_SECOND = 1_000

/** How long a relayer's account has no transaction mined when its server dies. */
export const takeover: Figure = {
  name: 'takeover',
  title: 'A relayer account whose server dies',
  async measure({ rounds, nodeOptions, print }) {
    const chain = await startRelayChain()
    const fleet = await startRelayFleet(chain, {
      accounts: chain.relayers.slice(0, SERVERS),
      callers: CALLERS,
      leaseTtlMs: TTL_MS,
      nodeOptions,
    })
    const load = startWorkers(chain, fleet)
    try {
      const stillMs: number[] = []
      while (stillMs.length < rounds * DEATHS) {
        const index = stillMs.length % SERVERS
        await fleet.untilShared()
        stillMs.push(await load.guard(standstill(chain, () => fleet.kill(index))))
        print(`  ${stillMs.length}: ${stillMs.at(-1)?.toFixed(0)} ms`)
        await fleet.restart(index)
      }
      const seconds = stillMs.map((ms) => ms / MS_PER_SECOND)
      const { min, median, max } = spreadOf(seconds)
      const p99 = quantile(Float64Array.from(seconds).sort(), 0.99)
      const value = { median: p99, min, max }
      return {
        rows: [{ what: 'stands still', cells: { deaths: seconds.length, 'p50 s': median, 'p99 s': p99 } }],
        bars: [{ what: 'p99, s', value, atMost: (TTL_MS + LONGER_MS) / MS_PER_SECOND }],
        notes: [
          `deaths by SIGKILL, LEASE_TTL ${TTL_MS / MS_PER_SECOND} s, blocks of 0.1 s`,
          `${SERVERS} servers with an account each, ${WORKERS} callers who post again to a living server`,
        ],
        rounds: seconds,
      }
    } finally {
      await load.stop()
      await fleet.stop()
      await chain.stop()
    }
  },
}

const countSchema = z.string().transform(Number)

/**
 * Kills a server, and resolves with how long its account had no transaction mined, in milliseconds. The other accounts never
 * stand still.
 */
async function standstill({ rpc, relayers }: RelayChain, kill: () => Promise<void>): Promise<number> {
  const accounts = relayers.slice(0, SERVERS)
  const seen = new Map<string, { count: number; at: number }>()
  let killing: Promise<void> | undefined
  for (const giveUpAt = Date.now() + PATIENCE_MS; Date.now() < giveUpAt; await sleep(SAMPLE_MS)) {
    const answers = await rpc.send(
      accounts.map(({ address }) => ({ method: 'eth_getTransactionCount', params: [address, 'latest'] })),
    )
    const now = performance.now()
    for (const [index, { address }] of accounts.entries()) {
      const count = resultOf(answers[index], countSchema)
      const before = seen.get(address)
      if (before?.count === count) continue
      seen.set(address, { count, at: now })
      if (before === undefined || killing === undefined || now - before.at < STILL_MS) continue
      await killing
      return now - before.at
    }
    if (seen.size === accounts.length) killing ??= kill()
  }
  throw new Error('the account of the dead server stands still')
}

/** Callers who each have the next write of a portfolio of their own relayed, by whichever server is alive. */
function startWorkers(chain: RelayChain, fleet: Fleet) {
  const over = new AbortController()
  const headers = { ...relayHeaders(chain), 'content-type': 'application/json' }

  async function relayed(body: string, first: number): Promise<void> {
    for (let turn = first; !over.signal.aborted; turn++) {
      const url = `${fleet.servers[turn % SERVERS]?.url}/relay`
      const request = { method: 'POST', headers, body, signal: over.signal }
      const answer = await fetch(url, request).catch(() => undefined)
      const text = await answer?.text().catch(() => undefined)
      if (answer?.status === 200 && text !== undefined) {
        const { status } = receiptSchema.parse(JSON.parse(text))
        if (status !== 'confirmed') throw new Error(`an authorization is ${status}`)
        return
      }
      if (answer !== undefined && answer.status !== 202 && answer.status < 500)
        throw new Error(`${answer.status} ${text}`)
      await sleep(SAMPLE_MS)
    }
  }

  async function work(portfolio: number): Promise<void> {
    for (let turn = portfolio; !over.signal.aborted; turn++) {
      await relayed(relayRequest(chain.nextWrite(portfolio)).body ?? '', turn)
      await sleep(WORKER_PAUSE_MS)
    }
  }

  const working = Promise.all(Array.from({ length: WORKERS }, (_, portfolio) => work(portfolio)))
  return {
    /** Fails as soon as a caller does. */
    guard: async <T>(measuring: Promise<T>): Promise<T> => {
      const ended = working.then((): never => {
        throw new Error('the callers have ended')
      })
      return Promise.race([measuring, ended])
    },
    async stop() {
      over.abort()
      await working.catch(() => undefined)
    },
  }
}
