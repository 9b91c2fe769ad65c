import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { type SignedAuthorization, signedAuthorizationSchema } from '../src/protocol/authorization.js'
import { registerSecp256k1 } from '../src/protocol/secp256k1.js'
import { libSecp256k1 } from '../src/server/libSecp256k1.js'
import { registerFastKeccak } from '../src/service/fastKeccak.js'
import { opensslSecp256k1 } from '../src/service/opensslSecp256k1.js'
import { measureCeiling } from './support/ceiling.js'
import { type Helper, startHelper } from './support/childProcess.js'
import type { Target } from './support/compare.js'
import { cpuMs } from './support/cpuTime.js'
import type { BenchContext, Figure } from './support/figure.js'
import { type LoadPlan, type LoadRequest, type LoadResult, loadResultSchema } from './support/load.js'
import { startPlainRelay } from './support/plainServer.js'
import { BENCH_DIRECTORY } from './support/platform.js'
import { type RelayChain, startRelayChain } from './support/relayChain.js'
import type { MemorySample, RelayRound, SenderRound } from './support/relayResult.js'
import { type RelayServer, startRelayServer } from './support/relayServer.js'
import { measureVerification, type Verification } from './support/verification.js'

const CALLERS = 512
/** Of a round: the plain relay gets fewer, as it takes so much longer. */
const PER_ROUND = 4 * CALLERS
const PLAIN_PER_ROUND = CALLERS
/** Of the memory, once the rounds have warmed it up. */
const MEMORY_SAMPLES = 10
const VERIFIED = 64
/** Everything that the relay is measured with. */
export interface RelayBench {
  readonly chain: RelayChain
  readonly ours: RelayServer
  readonly generator: Helper
  readonly headers: Record<string, string>
}

export const relay: Figure = {
  name: 'relay',
  title: 'POST /relay',
  measure: (context) =>
    withRelay(context, CALLERS, async (bench) => {
      const plain = await startPlainRelay(bench.chain)
      try {
        return await measure(bench, plain, context)
      } finally {
        await plain.stop()
      }
    }),
}

/** Signs and hashes here as the server does. */
export function registerFast(): void {
  registerFastKeccak()
  registerSecp256k1({ ...opensslSecp256k1, ...libSecp256k1 })
}

/** Starts a chain and the real server, with room for so many callers, for as long as they are measured. */
export async function withRelay<T>(
  { nodeOptions, print }: BenchContext,
  callers: number,
  action: (bench: RelayBench) => Promise<T>,
): Promise<T> {
  registerFast()
  const chain = await startRelayChain()
  const directory = join(BENCH_DIRECTORY, `relay-${Date.now()}`)
  const ours = await startRelayServer(chain, { directory, callers, nodeOptions })
  const generator = startHelper('./loadGenerator.ts')
  const headers = { authorization: `Bearer ${chain.secrets.relayAuthToken}` }
  try {
    print(`measuring ${ours.url}, with ${ours.settings}`)
    return await action({ chain, ours, generator, headers })
  } finally {
    await Promise.all([ours.stop(), generator.stop()])
    await chain.stop()
    await rm(directory, { recursive: true })
  }
}

async function measure(
  bench: RelayBench,
  plain: Target,
  { rounds: { rounds }, print, followed }: BenchContext,
) {
  const verification = verify(bench, rounds)
  // The warm-up: the first one compiles.
  await measureRound(bench, plain, 0)
  const measured: RelayRound[] = []
  for (let round = 1; round <= rounds; round++) {
    const found = await measureRound(bench, plain, round)
    measured.push(found)
    const rates = [found.ceiling, found.ours, found.plain].map(({ perSecond }) => perSecond.toFixed(0))
    print(`  round ${round} of ${rounds}: ceiling, ours, plain ${rates.join(', ')}/s`)
  }
  const memory = await followMemory(bench, followed)
  const notes = [
    `${CALLERS} callers and as many under way, on one anvil with ten blocks a second; all found to have taken effect`,
  ]
  return { kind: 'relay' as const, rounds: measured, verification, memory, notes }
}

function verify({ chain }: RelayBench, rounds: number): Verification[] {
  const authorizations = chain.authorizations(VERIFIED)
  // These are not relayed: their versions are taken again.
  chain.forget(VERIFIED)
  return Array.from({ length: rounds + 1 }, () => measureVerification(chain, authorizations)).slice(1)
}

/** The three in turns; who is first changes from round to round. */
async function measureRound(bench: RelayBench, plain: Target, round: number): Promise<RelayRound> {
  const { chain, ours } = bench
  const turns = [
    async () => {
      const authorizations = chain.authorizations(PER_ROUND)
      const ceiling = await measureCeiling(chain, authorizations)
      await chain.assertEffective(authorizations)
      return { ceiling }
    },
    async () => ({ ours: await post(bench, ours, PER_ROUND) }),
    async () => ({ plain: await post(bench, plain, PLAIN_PER_ROUND) }),
  ]
  let found: Partial<RelayRound> = {}
  for (let turn = 0; turn < turns.length; turn++) {
    found = { ...found, ...(await turns[(turn + round) % turns.length]?.()) }
  }
  const { ceiling, ours: our, plain: theirs } = found
  if (ceiling === undefined || our === undefined || theirs === undefined) throw new Error('a turn is missing')
  return { ceiling, ours: our, plain: theirs }
}

/** Has so many authorizations relayed, each until it is final. */
export async function post(
  bench: RelayBench,
  target: Target,
  count: number,
  connections = CALLERS,
): Promise<SenderRound> {
  const authorizations = bench.chain.authorizations(count)
  const [before, nodeBefore] = [await cpuMs(target.pid), await cpuMs(bench.chain.pid)]
  const requests = authorizations.map(requestOf)
  // 200 says that it is final; what is final without an effect is found below.
  const plan = { connections, requests, durationMs: null, expectedStatus: 200 }
  const result = await load(bench, target.url, plan)
  const [after, nodeAfter] = [await cpuMs(target.pid), await cpuMs(bench.chain.pid)]
  await bench.chain.assertEffective(authorizations)
  const each = (from: number | null, to: number | null) =>
    from === null || to === null ? null : ((to - from) * 1_000) / count
  return { ...result, cpuUs: each(before, after), nodeCpuUs: each(nodeBefore, nodeAfter) }
}

async function followMemory(bench: RelayBench, followed: number): Promise<MemorySample[]> {
  const samples: MemorySample[] = [{ authorizations: 0, ...(await bench.ours.memory()) }]
  const perSample = Math.floor(followed / MEMORY_SAMPLES)
  if (perSample === 0) return samples
  for (let sample = 1; sample <= MEMORY_SAMPLES; sample++) {
    await post(bench, bench.ours, perSample)
    samples.push({ authorizations: sample * perSample, ...(await bench.ours.memory()) })
  }
  return samples
}

export async function load(
  bench: RelayBench,
  url: string,
  plan: Omit<LoadPlan, 'url' | 'headers'>,
): Promise<LoadResult> {
  const { headers, generator } = bench
  const result = await generator.ask({ url, headers, ...plan }, loadResultSchema)
  if (result.failed > 0 || result.answered === 0) {
    throw new Error(`${url}: ${result.failed} failed, ${result.answered} answered`)
  }
  return result
}

export function requestOf(authorization: SignedAuthorization): LoadRequest {
  const body = JSON.stringify(z.encode(signedAuthorizationSchema, authorization))
  return { method: 'POST', path: '/relay', body }
}
