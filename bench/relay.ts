import { verifyTypedData } from 'ethers'
import { authorizationDomain, type SignedAuthorization } from '../src/protocol/authorization.js'
import { authorizationTypes } from '../src/protocol/authorizationTypes.js'
import { createAuthorizationVerifier } from '../src/server/relay/authorization.js'
import { startPeer, type Target, type Turn, takeTurn } from './support/compare.js'
import type { BenchContext, Figure, Result, Row } from './support/figure.js'
import { type Ceiling, measureCeiling } from './support/presigned.js'
import { cpuMs, type Memory, memoryOf } from './support/processes.js'
import {
  type RelayChain,
  type RelayPlatform,
  relayHeaders,
  relayRequest,
  startRelayChain,
  withRelay,
} from './support/relayPlatform.js'
import { growthOf, spreadOf } from './support/statistics.js'

const CALLERS = 512
const PER_ROUND = 4 * CALLERS
/** Fewer, because the plain relay takes so much longer. */
const PLAIN_PER_ROUND = CALLERS
/** Samples of the memory, once the rounds have warmed it up. */
const MEMORY_SAMPLES = 10
const VERIFIED = 64
const VERIFYING_MS = 250
const BARS = { ceiling: 0.5, plain: 10, ethers: 6, heapGrowth: 1.1 }

/** A relay in one round, until its answers say `confirmed`. */
interface SenderTurn extends Turn {
  /** CPU of the node's process for each authorization. */
  readonly nodeCpuUs: number
}

/** The three ways of sending, right after one another. */
interface RelayRound {
  readonly ceiling: Ceiling
  readonly ours: SenderTurn
  readonly plain: SenderTurn
}

export const relay: Figure = {
  name: 'relay',
  title: 'POST /relay',
  async measure(context) {
    const chain = await startRelayChain()
    try {
      return await withRelay(chain, context, { callers: CALLERS }, async (platform) => {
        const { rpcUrl, chainId, contracts, accounts, signer } = chain
        const { privateKey } = accounts.plain
        const ledger = contracts.confidentialLedger
        const plain = await startPeer({ kind: 'plainRelay', rpcUrl, chainId, ledger, privateKey, signer })
        try {
          return await measure(platform, plain, context)
        } finally {
          await plain.stop()
        }
      })
    } finally {
      await chain.stop()
    }
  },
}

async function measure(platform: RelayPlatform, plain: Target, context: BenchContext): Promise<Result> {
  const { rounds, print, followed } = context
  const authorizations = platform.chain.authorizations(VERIFIED)
  platform.chain.forget(VERIFIED)
  const verification = Array.from({ length: rounds + 1 }, () =>
    verifyBoth(platform.chain, authorizations),
  ).slice(1)
  const measured: RelayRound[] = []
  for (let round = 0; round <= rounds; round++) {
    const found = await measureRound(platform, plain, round)
    // The first round warms up.
    if (round === 0) continue
    measured.push(found)
    const rates = [found.ceiling, found.ours, found.plain].map(({ perSecond }) => perSecond.toFixed(0))
    print(`  round ${round} of ${rounds}: ceiling, ours, plain ${rates.join(', ')}/s`)
  }
  const memory = await followMemory(platform, followed)
  const growth = growthOf(memory.map(({ heapMiB }) => heapMiB))
  const ratio = (of: (round: RelayRound) => number) => spreadOf(measured.map(of))
  const bars = [
    {
      what: 'requests/s, ours ÷ ceiling',
      value: ratio(({ ours, ceiling }) => ours.perSecond / ceiling.perSecond),
      atLeast: BARS.ceiling,
    },
    {
      what: 'requests/s, ours ÷ plain',
      value: ratio(({ ours, plain }) => ours.perSecond / plain.perSecond),
      atLeast: BARS.plain,
    },
    {
      what: "CPU of a verification, ethers ÷ ours, with the call's data",
      value: spreadOf(verification.map(({ oursUs, ethersUs }) => ethersUs / oursUs)),
      atLeast: BARS.ethers,
    },
  ]
  const heap = {
    what: `heap after ${followed}, by that at the beginning`,
    value: followed === 0 ? null : spreadOf([growth]),
    atMost: BARS.heapGrowth,
  }
  const notes = [
    `${CALLERS} callers and as many under way, on one anvil with ten blocks a second; all found to have taken effect`,
    'ceiling: signed beforehand, sent in batches; plain: Express, ethers, NonceManager, wait()',
    `heap MiB ${listOf(memory, ({ heapMiB }) => heapMiB)}; RSS MiB ${listOf(memory, ({ rssMiB }) => rssMiB)}`,
  ]
  const rows = [ceilingRow(measured), senderRow(measured, 'ours'), senderRow(measured, 'plain')]
  return { rows, bars: [...bars, heap], notes, rounds: { measured, verification, memory } }
}

/** The three in turns; the first of a round is the last of the next. */
async function measureRound(platform: RelayPlatform, plain: Target, round: number): Promise<RelayRound> {
  const { chain, server } = platform
  const turns = [
    async () => {
      const authorizations = chain.authorizations(PER_ROUND)
      const ceiling = await measureCeiling(chain, authorizations)
      await chain.assertEffective(authorizations)
      return { ceiling }
    },
    async () => ({ ours: await relayAll(platform, server, PER_ROUND, CALLERS) }),
    async () => ({ plain: await relayAll(platform, plain, PLAIN_PER_ROUND, CALLERS) }),
  ]
  let found: Partial<RelayRound> = {}
  for (let turn = 0; turn < turns.length; turn++) {
    found = { ...found, ...(await turns[(turn + round) % turns.length]?.()) }
  }
  const { ceiling, ours, plain: theirs } = found
  if (ceiling === undefined || ours === undefined || theirs === undefined)
    throw new Error('a turn is missing')
  return { ceiling, ours, plain: theirs }
}

/** Has so many authorizations relayed, each until it is final. */
export async function relayAll(
  { chain, generator }: RelayPlatform,
  target: Target,
  count: number,
  connections: number,
): Promise<SenderTurn> {
  const authorizations = chain.authorizations(count)
  const before = await cpuMs(chain.pid)
  // 200 says that it is final; its effect is looked up below.
  const turn = await takeTurn(generator, target, {
    connections,
    requests: authorizations.map(relayRequest),
    headers: relayHeaders(chain),
    durationMs: null,
    expectedStatus: 200,
  })
  const nodeCpuUs = (((await cpuMs(chain.pid)) - before) * 1_000) / count
  await chain.assertEffective(authorizations)
  return { ...turn, nodeCpuUs }
}

interface MemorySample extends Memory {
  /** Relayed since the first sample. */
  readonly authorizations: number
}

async function followMemory(platform: RelayPlatform, followed: number): Promise<MemorySample[]> {
  const { child } = platform.server
  const samples: MemorySample[] = [{ authorizations: 0, ...(await memoryOf(child)) }]
  const perSample = Math.floor(followed / MEMORY_SAMPLES)
  for (let sample = 1; perSample > 0 && sample <= MEMORY_SAMPLES; sample++) {
    await relayAll(platform, platform.server, perSample, CALLERS)
    samples.push({ authorizations: sample * perSample, ...(await memoryOf(child)) })
  }
  return samples
}

/** Microseconds of CPU that one verification takes, ours with the call's data. */
function verifyBoth(chain: RelayChain, authorizations: readonly SignedAuthorization[]) {
  const { verify } = createAuthorizationVerifier(chain)
  return {
    oursUs: cpuUsOf(authorizations, verify),
    ethersUs: cpuUsOf(authorizations, (authorization) => verifyByEthers(chain, authorization)),
  }
}

function verifyByEthers(chain: RelayChain, { primaryType, message, signature }: SignedAuthorization): void {
  const domain = { chainId: chain.chainId, verifyingContract: chain.contracts.confidentialLedger }
  const types = { [primaryType]: authorizationTypes[primaryType] }
  const signer = verifyTypedData(authorizationDomain(primaryType, domain), types, message, signature)
  if (signer !== chain.signer) throw new Error('the bench signed with another key')
}

/** CPU time, as the machine may do something else in between. */
function cpuUsOf<T>(values: readonly T[], action: (value: T) => unknown): number {
  const until = performance.now() + VERIFYING_MS
  const before = process.cpuUsage()
  let count = 0
  while (performance.now() < until) {
    for (const value of values) action(value)
    count += values.length
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}

function ceilingRow(measured: readonly RelayRound[]): Row {
  const cells = {
    'requests/s': spreadOf(measured.map(({ ceiling }) => ceiling.perSecond)),
    'least CPU µs of the node': spreadOf(measured.map(({ ceiling }) => ceiling.nodeCpuUs)).min,
  }
  return { what: 'ceiling', cells }
}

/** CPU by the least of the rounds: other work on the machine only ever adds to it. */
function senderRow(measured: readonly RelayRound[], what: 'ours' | 'plain'): Row {
  const spread = (of: (turn: SenderTurn) => number) => spreadOf(measured.map((round) => of(round[what])))
  const cells = {
    'requests/s': spread(({ perSecond }) => perSecond),
    'p50 ms': spread(({ p50Ms }) => p50Ms),
    'p99 ms': spread(({ p99Ms }) => p99Ms),
    'least CPU µs': spread(({ cpuUs }) => cpuUs).min,
    'least CPU µs of the node': spread(({ nodeCpuUs }) => nodeCpuUs).min,
  }
  return { what, cells }
}

function listOf(memory: readonly MemorySample[], of: (sample: MemorySample) => number): string {
  return memory.map((sample) => of(sample).toFixed(0)).join(', ')
}
