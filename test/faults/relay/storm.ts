import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from '../../../src/protocol/hex.js'
import { startTestChain, type TestChain } from '../../support/chain.js'
import { chainEnvironment } from '../../support/intakeServer.js'
import { ENCLAVE_SIGNER, ROLES } from '../../support/roles.js'
import { SERVER_ENVIRONMENT } from '../../support/serverEnvironment.js'
import { startHostileClient } from '../engine/hostileClient.js'
import { createLives, createOccasions, LIFE_LIMIT_MS, type PlannedKill } from '../engine/lives.js'
import { createServerUnderFaults, IMPATIENT_SETTINGS } from '../engine/serverProcess.js'
import { lookUntilNone, type Moments, type Print, runStorm } from '../engine/storm.js'
import { BLOCK_SECONDS, createChainFaults, type Miner, startMiner } from '../nodes/chain.js'
import { type Onlooker, startFaultyNodes } from '../nodes/faultyNodes.js'
import { type Callers, createCallers } from './callers.js'
import { INNER_STEPS, type KillKind, type RelayPlan } from './plan.js'
import { STALL_BOUND_MS, settle, stalls, timesOf } from './settlement.js'
import { countTransactions, createWriteAheadWatch, examine, toldWrong } from './verdict.js'
import { createWork, prepareChain } from './workload.js'

export interface RelayStormOptions {
  readonly plan: RelayPlan
  /** Where the server keeps its data and its log. */
  readonly directory: string
  readonly print?: Print
  /** The nodes' blocks have no base fee. */
  readonly isLegacy?: boolean
  /** How long a life waits for its kill. Default: `LIFE_LIMIT_MS`. */
  readonly lifeLimitMs?: number
  /** Breaks the write-ahead rule on purpose: the relay sends first, or saves no no-op transaction. */
  readonly breaks?: 'FAULTS_SEND_FIRST' | 'FAULTS_LOSE_NO_OPS'
  /** How long something may be wrong at the end before it counts. Default: the stall bound. */
  readonly patienceMs?: number
}

const LOOK_MS = 100
const MINED_LOOK_MS = 10
const PRELOAD = new URL('preload.mjs', import.meta.url).href

/** Runs the plan against the real server on a real chain. Needs `npm run build`. */
export async function runRelayStorm(options: RelayStormOptions) {
  const chain = await startTestChain({ blockTime: BLOCK_SECONDS })
  const miner = await startMiner(chain)
  return runStorm(workloadOf(await surround(chain, miner, options), options))
}

type Surroundings = Awaited<ReturnType<typeof surround>>

/** Builds the server, its callers, and everything that goes wrong around it. */
async function surround(chain: TestChain, miner: Miner, options: RelayStormOptions) {
  const { plan, directory, isLegacy = false, lifeLimitMs, print = () => undefined } = options
  const lifelong = [...plan.lives, plan.last].flatMap(({ authorizations }) => authorizations)
  const work = [...lifelong, ...plan.aboveGap].map((one, index) => createWork(chain, one, index))
  const digests = new Map<string, Hex>(work.map(({ calldata, digest }) => [calldata, digest]))
  const relayer = chain.account('relayer')
  const dataDir = join(directory, 'data')
  const writeAhead = createWriteAheadWatch({
    dataDir,
    relayer,
    digestOf: (calldata) => digests.get(calldata),
  })
  const chainFaults = createChainFaults(
    { provider: chain.provider, chainId: chain.anvil.chainId, keys: [relayerKey(chain)] },
    miner,
    plan,
  )
  const mistakes: string[] = []
  const accepted = createOccasions()
  const onlooker: Onlooker = {
    leaves(transaction) {
      writeAhead.leaves(transaction)
      if (isLegacy && transaction.type !== 0) mistakes.push(`sent with type ${transaction.type}`)
    },
    async passed() {
      await chainFaults.afterSend()
      // The answer is withheld until the process has ended.
      if (accepted.pass()) await server.ended()
    },
    mistook: (words) => mistakes.push(words),
  }
  const nodes = await startFaultyNodes({ target: chain.anvil.rpcUrl, plan, onlooker, isLegacy })
  const server = createServerUnderFaults({
    directory,
    environment: environmentOf(chain, dataDir, options),
    preload: PRELOAD,
  })
  const minedCount = () => chain.provider.getTransactionCount(relayer)

  async function moment({ kind, nth }: PlannedKill<KillKind>, over: AbortSignal): Promise<void> {
    if (kind === 'accepted') return accepted.after(nth)
    if (kind === 'ended') {
      const count = () => [...callers.told.values()].filter(({ endedAt }) => endedAt !== undefined).length
      while (!over.aborted && count() < nth) await sleep(LOOK_MS)
      return
    }
    const before = await minedCount()
    while (!over.aborted && (await minedCount()) < before + nth) await sleep(MINED_LOOK_MS)
  }
  const lives = createLives<KillKind>({ server, steps: INNER_STEPS, moment, print, limitMs: lifeLimitMs })
  const callers = createCallers(chain, server.url, work)
  // Other clients' authorizations, posted without the token.
  const copies = work.map(({ body }) => ['/relay', body] as const)
  const hostile = startHostileClient({ url: server.url, seed: plan.seed, copies: () => copies })
  const urlsOf = (numbers: readonly number[]) => numbers.map((node) => nodes.urls[node]).join()
  const faults = { writeAhead, mistakes, accepted, chainFaults, nodes, urlsOf }
  return { chain, miner, work, ...faults, server, lives, callers, hostile, dataDir }
}

function relayerKey({ anvil }: TestChain): string {
  return anvil.accounts[ROLES.indexOf('relayer')]?.privateKey ?? ''
}

function environmentOf(chain: TestChain, dataDir: string, { breaks }: RelayStormOptions) {
  return {
    PATH: process.env.PATH ?? '',
    ...SERVER_ENVIRONMENT,
    ...chainEnvironment(chain),
    ...IMPATIENT_SETTINGS,
    DATA_DIR: dataDir,
    ENCLAVE_SIGNER,
    RELAYER_PRIVATE_KEY: relayerKey(chain),
    ...(breaks !== undefined && { [breaks]: 'yes' }),
  }
}

function workloadOf(around: Surroundings, { plan, patienceMs = STALL_BOUND_MS }: RelayStormOptions) {
  const { chain, miner, work, server, lives, nodes, chainFaults, callers, hostile, dataDir } = around
  let takenBack = 0
  return {
    seed: plan.seed,
    hostile,
    async rage() {
      await prepareChain(chain, work)
      await chainFaults.begin()
      await rage(plan, around)
    },
    async settle() {
      await callers.end()
      const settlement = await settle({ chain, ...callers, dataDir })
      takenBack = settlement.takenBack
      return settlement.violations
    },
    async judge(moments: Moments) {
      const times = timesOf([...callers.told.values()], moments, server.uptimes())
      const found = await lookUntilNone(patienceMs, () => examine({ chain, client: callers.client, work }))
      const figures = {
        authorizations: work.length,
        callers: work.reduce((sum, one) => sum + one.plan.callers.length, 0),
        kills: lives.kills,
        unreached: lives.unreached(),
        requests: nodes.requests(),
        transactions: await countTransactions(chain),
        filled: await countFilled(server.log),
        /** Authorizations posted again, as a reorganization between two lives took their effect back. */
        takenBack,
        ...times,
      }
      const violations = [
        ...around.writeAhead.violations,
        ...around.mistakes,
        ...server.gaveUp.map((code) => `the server ended by itself, with ${code}`),
        ...toldWrong(callers),
        ...found,
        ...stalls(times, moments),
      ]
      return { figures, violations }
    },
    struck: async () => ({ ...nodes.struck(), ...chainFaults.struck() }),
    async stop() {
      await server.kill()
      await nodes.stop()
      await miner.stop()
      await chain.stop()
    },
  }
}

/** One life of the server after the other. The last one ends in calm, above a nonce that is opened again. */
async function rage(plan: RelayPlan, around: Surroundings): Promise<void> {
  const { server, lives, callers, chainFaults, nodes, accepted, urlsOf } = around
  for (const life of plan.lives) {
    await lives.live(life.kill, {
      start: (variables) => server.start({ RPC_URL: urlsOf(life.nodes), ...variables }),
      begin: () => callers.begin(life.authorizations.length),
    })
    accepted.end()
  }
  if (plan.resets.includes('down')) await chainFaults.reset()
  await server.start({ RPC_URL: urlsOf(plan.last.nodes) })
  callers.begin(plan.last.authorizations.length)
  await until(() => nodes.isCalm() && chainFaults.isCalm())
  nodes.calm()
  chainFaults.calm()
  if (plan.resets.includes('up')) {
    await until(() => countEnded(callers) > plan.last.authorizations.length / 2)
    await chainFaults.reset()
  }
  // Callers that trust the answers of a chain that is gone ask for ever, and hear no end.
  if (plan.resets.length === 0) await openNonce(plan, around)
}

/** Waits until all else has ended: transactions that the server holds already would fill the gap. */
async function openNonce({ aboveGap }: RelayPlan, { callers, chainFaults }: Surroundings): Promise<void> {
  const all = callers.told.size - aboveGap.length
  let ended = -1
  // Some never hear an end: a reorganization between two lives made the answer that they trust untrue.
  while (countEnded(callers) > ended && countEnded(callers) < all) {
    ended = countEnded(callers)
    await until(() => countEnded(callers) > ended)
  }
  await chainFaults.openNonce(() => callers.begin(aboveGap.length))
}

async function until(isSo: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + LIFE_LIMIT_MS
  while (!isSo() && performance.now() < giveUpAt) await sleep(LOOK_MS)
}

function countEnded({ told }: Callers): number {
  return [...told.values()].filter(({ endedAt, refused }) => refused || endedAt !== undefined).length
}

/** Counts nonces that the server filled, by what its log says it knew of them. */
async function countFilled(log: string) {
  const text = await readFile(log, 'utf8')
  const count = (words: string) => text.split(`nonce filled: ${words}`).length - 1
  return { unknown: count('nothing is known'), refused: count('no node takes') }
}
