import { join } from 'node:path'
import type { Hex } from '../../../src/protocol/hex.js'
import { startTestChain, type TestChain } from '../../support/chain.js'
import { ROLES } from '../../support/roles.js'
import { type Callers, createCallers } from './callers.js'
import { createChainFaults } from './chainFaults.js'
import type { Onlooker } from './faultyNode.js'
import { startFaultyNodes } from './faultyNodes.js'
import { startHostileClient } from './hostileClient.js'
import { createLives } from './lives.js'
import { type Miner, startMiner } from './miner.js'
import { countNoOps, type NoOps } from './noOps.js'
import type { Plan } from './plan.js'
import { createRelayServer } from './relayServer.js'
import { BLOCK_SECONDS, STALL_BOUND_MS } from './settings.js'
import { examine, settle } from './settlement.js'
import { storm } from './storm.js'
import { stalls, type Times, timesOf } from './times.js'
import { createWork, prepareChain } from './workload.js'
import { createWriteAheadWatch } from './writeAhead.js'

export interface BenchOptions {
  readonly plan: Plan
  /** Where the server keeps its data and its log. */
  readonly directory: string
  readonly print: (line: string) => void
  /** The nodes' blocks tell no base fee. */
  readonly isLegacy?: boolean
  /** Breaks the write-ahead line on purpose, to see that it is noticed. */
  readonly sendsFirst?: boolean
  /** Saves no no-op transaction, for the same end. */
  readonly losesNoOps?: boolean
  /** How long something may be wrong at the end before it counts. Default: the stall bound. */
  readonly patienceMs?: number
}

/** What a run has shown. */
export interface Report extends Times {
  readonly seed: number
  readonly authorizations: number
  readonly callers: number
  /** By kind: how often the process was ended there. */
  readonly kills: Record<string, number>
  /** Lives that were to end at a step that did not come about; they ended by the clock. */
  readonly unreached: number
  /** By kind: how often each fault struck. */
  readonly struck: Record<string, number>
  /** Answers to the hostile client, by status. */
  readonly hostile: Record<string, number>
  readonly requests: number
  /** Transactions of the relayer's account in blocks. */
  readonly transactions: Record<'effects' | 'reverted' | 'noOps' | 'fromOutside', number>
  /** By what the server knew of the nonce: how often it decided to fill one. */
  readonly filled: NoOps
  /** Authorizations that had to be posted again, as a reorganization between two lives took their effect back. */
  readonly takenBack: number
  /** Everything that must not be. */
  readonly violations: readonly string[]
}

/** Runs the plan against the real server on a real chain, and looks at what is left. Needs `npm run build`. */
export async function runFaultBench(options: BenchOptions): Promise<Report> {
  const chain = await startTestChain({ blockTime: BLOCK_SECONDS })
  const miner = await startMiner(chain)
  const around = await surround(chain, miner, options)
  try {
    await prepareChain(chain, around.work)
    await around.chainFaults.begin()
    return await run(chain, options, around)
  } finally {
    await around.hostile.stop()
    await around.server.kill()
    await around.nodes.stop()
    await miner.stop()
    await chain.stop()
  }
}

/** The server, who calls it, and everything that goes wrong around it. */
export type Surroundings = Awaited<ReturnType<typeof surround>>

async function surround(chain: TestChain, miner: Miner, options: BenchOptions) {
  const { plan, directory, sendsFirst, losesNoOps, isLegacy = false } = options
  const lifelong = [...plan.lives, plan.last].flatMap(({ authorizations }) => authorizations)
  const planned = [...lifelong, ...plan.aboveGap]
  const work = planned.map((one, index) => createWork(chain, one, index))
  const digests = new Map<string, Hex>(work.map(({ calldata, digest }) => [calldata, digest]))
  const relayer = chain.account('relayer')
  const dataDir = join(directory, 'data')
  const digestOf = (calldata: string): Hex | undefined => digests.get(calldata)
  const writeAhead = createWriteAheadWatch({ dataDir, relayer, digestOf })
  const keys = [chain.anvil.accounts[ROLES.indexOf('relayer')]?.privateKey ?? '']
  const chainFaults = createChainFaults(
    { provider: chain.provider, chainId: chain.anvil.chainId, keys },
    miner,
    plan,
  )
  const mistakes: string[] = []
  const onlooker: Onlooker = {
    leaves(transaction) {
      writeAhead.leaves(transaction)
      if (isLegacy && transaction.type !== 0) mistakes.push(`sent with type ${transaction.type}`)
    },
    async passed() {
      await chainFaults.afterSend()
      await lives.passed()
    },
    mistook: (words) => mistakes.push(words),
  }
  const nodes = await startFaultyNodes({ target: chain.anvil.rpcUrl, plan, onlooker, isLegacy })
  const variables = {
    ...(sendsFirst && { FAULTS_SEND_FIRST: 'yes' }),
    ...(losesNoOps && { FAULTS_LOSE_NO_OPS: 'yes' }),
  }
  const server = createRelayServer({ chain, directory, rpcUrls: nodes.urls, variables })
  const lives = createLives(server, () => chain.provider.getTransactionCount(relayer))
  const callers = createCallers(chain, server.url, work)
  // Authorizations copied from their callers, without the token.
  const copies = work.map(({ body }) => ['/relay', body] as const)
  const hostile = startHostileClient({ url: server.url, seed: plan.seed, copies: () => copies })
  return { work, writeAhead, mistakes, chainFaults, nodes, server, lives, callers, hostile, dataDir }
}

async function run(chain: TestChain, options: BenchOptions, around: Surroundings): Promise<Report> {
  const { plan, print, patienceMs = STALL_BOUND_MS } = options
  const { work, server, lives, nodes, chainFaults, callers, hostile, dataDir } = around
  const startedAt = performance.now()
  await storm(plan, around, print)
  const calmAt = performance.now()
  await callers.end()
  const settlement = await settle({ chain, ...callers, dataDir })
  const moments = { startedAt, calmAt, settledAt: performance.now(), uptimes: server.uptimes() }
  const times = timesOf([...callers.told.values()], moments)
  const found = await examine({
    chain,
    client: callers.client,
    work,
    patienceMs,
  })
  return {
    seed: plan.seed,
    authorizations: work.length,
    callers: work.reduce((sum, one) => sum + one.plan.callers.length, 0),
    kills: lives.kills,
    unreached: lives.unreached(),
    struck: { ...nodes.struck(), ...chainFaults.struck() },
    hostile: hostile.answered(),
    requests: nodes.requests(),
    transactions: found.transactions,
    filled: await countNoOps(server.log),
    takenBack: settlement.takenBack,
    ...times,
    violations: [
      ...around.writeAhead.violations,
      ...around.mistakes,
      ...hostile.faults(),
      ...server.gaveUp.map((code) => `the server ended by itself, with ${code}`),
      ...toldWrong(callers),
      ...settlement.violations,
      ...found.violations,
      ...stalls(times),
    ],
  }
}

/** Nothing but a rival can fail. */
function toldWrong({ told }: Callers): string[] {
  return [...told].flatMap(([{ plan, digest }, { refused, statuses }]) => {
    if (plan.kind === 'rival') return []
    const name = `${plan.kind} ${digest}`
    return [
      ...(refused ? [`${name}: a caller was told that it would revert`] : []),
      ...(statuses.has('failed') ? [`${name}: a caller was told that it failed`] : []),
    ]
  })
}
