import { setTimeout as sleep } from 'node:timers/promises'
import type { Receipt } from '../../../src/protocol/api.js'
import type { TestChain } from '../../support/chain.js'
import { ANSWER_TIMEOUT_MS, type Client, createClient, hasEnded, type Response } from './client.js'
import type { PlannedCaller } from './plan.js'
import { takeToChain, type Work } from './workload.js'

/** What the callers of one authorization were told. */
export interface Told {
  /** Of `performance.now()`: when it was first posted. */
  postedAt?: number
  /** Of `performance.now()`: when it was first said to be taken on. */
  acceptedAt?: number
  /** Of `performance.now()`: when its end was first told. */
  endedAt?: number
  /** Refused, as the call would revert. */
  refused: boolean
  readonly statuses: Set<Receipt['status']>
}

/** Everybody who posts. They outlast the server that they first asked. */
export interface Callers {
  readonly client: Client
  readonly told: ReadonlyMap<Work, Told>
  /** Those of the next authorizations, so many, begin to call. */
  begin(count: number): void
  /** Resolves when all of them have gone home. */
  end(): Promise<void>
}

const PAUSE_MS = 150

export function createCallers(
  chain: TestChain,
  url: () => string | undefined,
  work: readonly Work[],
): Callers {
  const client = createClient(url)
  const over = new AbortController()
  const told = new Map<Work, Told>(work.map((one) => [one, { refused: false, statuses: new Set() }]))
  const left = [...told]
  const underWay: Promise<void>[] = []
  return {
    client,
    told,
    begin(count) {
      for (const [one, heard] of left.splice(0, count)) {
        const { callers, kind } = one.plan
        for (const caller of callers) {
          underWay.push(call({ client, work: one, caller, told: heard, signal: over.signal }))
        }
        if (kind === 'foreign') underWay.push(sleep(callers[0]?.afterMs).then(() => takeToChain(chain, one)))
      }
    },
    async end() {
      over.abort()
      await Promise.all(underWay)
    },
  }
}

interface CallerOptions {
  readonly client: Client
  readonly work: Work
  readonly caller: PlannedCaller
  readonly told: Told
  /** Aborts when callers may go home. */
  readonly signal: AbortSignal
}

/** One caller, until it has heard the end, or has hung up for good. */
async function call({ client, work, caller, told, signal }: CallerOptions): Promise<void> {
  await sleep(caller.afterMs)
  told.postedAt ??= performance.now()
  if (caller.manner === 'leaves') {
    await client.post(work, 1, caller.patienceMs)
    return
  }
  const waitSeconds = Math.ceil(caller.patienceMs / 1_000)
  let taken = false
  while (!signal.aborted) {
    const asksOnly: boolean = taken && caller.manner === 'trusts'
    const response: Response | undefined = await (asksOnly
      ? client.get(work)
      : client.post(work, waitSeconds, ANSWER_TIMEOUT_MS))
    taken ||= response?.receipt !== undefined
    note(told, response)
    if (hasEnded(response) || (response?.status === 422 && work.plan.kind === 'rival')) return
    await sleep(PAUSE_MS)
  }
}

/** Keeps what an answer told. */
export function note(told: Told, response: Response | undefined): void {
  if (response?.status === 422) told.refused = true
  if (response?.receipt === undefined) return
  told.acceptedAt ??= performance.now()
  told.statuses.add(response.receipt.status)
  if (hasEnded(response)) told.endedAt ??= performance.now()
}
