import { onTestFinished, vi } from 'vitest'
import { checksum } from '../../../../src/protocol/address.js'
import type { OrderReceived } from '../../../../src/protocol/api.js'
import { commitOf, type Envelope } from '../../../../src/protocol/envelope.js'
import type { Hex } from '../../../../src/protocol/hex.js'
import type { Job, RunResult } from '../../../../src/protocol/job.js'
import type { EnclaveRunner, RunEnd } from '../../../../src/server/trigger/runner.js'
import { bytes32 } from '../../../support/institution.js'
import { SERVER_ENVIRONMENT } from '../../../support/serverEnvironment.js'
import { createEscrowChain, type EscrowChain } from './escrowChain.js'
import { startLife } from './life.js'

/** Three orders, two of them of one account. */
export const ORDERS = ['first', 'second', 'other'] as const
export type OrderName = (typeof ORDERS)[number]
const ACCOUNTS = { first: '0xa1', second: '0xa1', other: '0xb2' }

export type Market = Awaited<ReturnType<typeof openMarket>>

export function envelopeOf(text: string): Envelope {
  const epk: Hex = `0x${SERVER_ENVIRONMENT.INTENT_PUBKEY.slice(2)}`
  return { epk, iv: `0x${'11'.repeat(12)}`, ct: bytes32(text), tag: `0x${'22'.repeat(16)}` }
}

/** An order as its owner knows it. */
function own(name: OrderName) {
  const envelope = envelopeOf(`${name}, sealed`)
  const account = checksum(`0x${ACCOUNTS[name].slice(2).repeat(20)}`)
  return { orderId: bytes32(name), account, envelope, commit: commitOf(envelope) }
}

export const owned = { first: own('first'), second: own('second'), other: own('other') }

/** Replaces the clock for the length of the running test. */
export function useModelClock(): void {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'],
    now: Date.UTC(2026, 0, 5),
  })
  onTestFinished(() => void vi.useRealTimers())
}

/**
 * Everything around the server, and the server of now.
 * @param turn see `startLife`
 */
export async function openMarket(root: string, turn: (step: string) => Promise<void>) {
  const chain = createEscrowChain(Date.now)
  const broken: string[] = []
  const enclave: ModelEnclave = createModelEnclave((run) => {
    const fault = faultOf(run, chain, enclave)
    if (fault !== undefined) broken.push(fault)
  })
  const start = () => startLife(root, chain, enclave, turn)
  let life = await start()
  return {
    chain,
    enclave,
    /** Broken rules, oldest first. */
    broken,
    life: () => life,
    /** The process is killed, and another one started on the same directory. */
    async restart() {
      life.kill()
      life = await start()
    },
    async post({ orderId }: { readonly orderId: Hex }, envelope: Envelope): Promise<OrderReceived> {
      const answer = await life.orders.receive({ orderId, ...envelope }, 'a client')
      if (typeof answer === 'string') throw new Error(`not received: ${answer}`)
      return answer
    },
    /** Lets so many milliseconds pass. */
    async pass(ms: number) {
      await vi.advanceTimersByTimeAsync(ms)
    },
  }
}

/** The rule that a new run breaks, if any. */
function faultOf(
  { orderId, commit }: ModelRun,
  chain: EscrowChain,
  { runs }: ModelEnclave,
): string | undefined {
  const order = Object.values(owned).find((one) => one.orderId === orderId)
  if (order === undefined || chain.stateOf(orderId) === 'NONE') return 'a run of an order without an escrow'
  if (commit !== null && commit !== order.commit)
    return 'a run of an order with an envelope that is not its own'
  const siblings = Object.values(owned).filter(({ account }) => account === order.account)
  const busy = runs.some((run) => !run.isOver && siblings.some((sibling) => sibling.orderId === run.orderId))
  return busy ? 'a second run of one account' : undefined
}

/** A run that a server has started. */
interface ModelRun {
  readonly orderId: Hex
  /** The commit of its envelope. */
  readonly commit: Hex | null
  readonly end: PromiseWithResolvers<RunEnd>
  isOver: boolean
}

type ModelEnclave = ReturnType<typeof createModelEnclave>

/** An enclave whose runs last until the test ends them, and longer than servers. */
function createModelEnclave(onStart: (run: ModelRun) => void) {
  const runs: ModelRun[] = []
  const byId = new Map<string, ModelRun>()
  function start(job: Job): ModelRun {
    if (job.job !== 'order') throw new Error('no other job is due')
    const commit = job.envelope === undefined ? null : commitOf(job.envelope)
    const run: ModelRun = { orderId: job.orderId, commit, end: Promise.withResolvers(), isOver: false }
    onStart(run)
    runs.push(run)
    byId.set(job.runId, run)
    return run
  }
  /** Whether it was given the order's envelope, by this run or an earlier one. */
  function isHeld({ orderId }: ModelRun): boolean {
    return runs.some((run) => run.orderId === orderId && run.commit !== null)
  }
  const runner: EnclaveRunner = {
    // The runs that it was given outlive the server.
    offerAgain() {},
    run: (job) => start(job).end.promise,
    // A run that was noted and never started has left nothing.
    attach: async ({ runId }) => byId.get(runId)?.end.promise ?? { how: 'timeout', result: null },
  }
  return {
    runs,
    runner,
    /** Ends the oldest run under way, if there is one. Of what it does not hold it knows nothing to do. */
    endNext(result: RunResult): ModelRun | undefined {
      const run = runs.find(({ isOver }) => !isOver)
      if (run === undefined) return undefined
      run.isOver = true
      run.end.resolve({ how: 'result', result: isHeld(run) ? result : withoutEnvelope(result) })
      return run
    },
  }
}

function withoutEnvelope(result: RunResult): RunResult {
  return result.outcome === 'failed' ? result : { outcome: 'rejected' }
}
