import { setTimeout as sleep } from 'node:timers/promises'
import { type Receipt, receiptSchema } from '../../../src/protocol/api.js'
import type { TestChain } from '../../support/chain.js'
import { handled } from '../../support/handled.js'
import { SERVER_ENVIRONMENT } from '../../support/serverEnvironment.js'
import type { PlannedCaller } from './plan.js'
import { takeToChain, type Work } from './workload.js'

/** The answer of a server. */
interface Response {
  readonly status: number
  readonly receipt: Receipt | undefined
}

/** Asks the server that is up now. Resolves with undefined where there is no answer. */
export interface Client {
  post(work: Work, waitSeconds: number, patienceMs: number): Promise<Response | undefined>
  get(work: Work): Promise<Response | undefined>
}

/** More than the longest wait that the server grants. */
const ANSWER_TIMEOUT_MS = 10_000

function createClient(url: () => string | undefined): Client {
  const headers = {
    Authorization: `Bearer ${SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN}`,
    'Content-Type': 'application/json',
  }

  async function ask(path: string, init: RequestInit, patienceMs: number): Promise<Response | undefined> {
    const base = url()
    if (base === undefined) return undefined
    try {
      const signal = AbortSignal.timeout(patienceMs)
      const response = await fetch(`${base}${path}`, { ...init, signal })
      const body: unknown = await response.json()
      return { status: response.status, receipt: response.ok ? receiptSchema.parse(body) : undefined }
    } catch {
      return undefined
    }
  }

  return {
    post: ({ body }, waitSeconds, patienceMs) =>
      ask(
        '/relay',
        { method: 'POST', body, headers: { ...headers, Prefer: `wait=${waitSeconds}` } },
        patienceMs,
      ),
    get: ({ digest }) => ask(`/relay/${digest}`, { headers }, ANSWER_TIMEOUT_MS),
  }
}

/** Whether an answer contains the end. */
export function hasEnded(response: Pick<Response, 'receipt'> | undefined): boolean {
  return response?.receipt?.status === 'confirmed' || response?.receipt?.status === 'failed'
}

/** The answers to the callers of one authorization. Times are readings of `performance.now()`. */
export interface Told {
  /** Its first post. */
  postedAt?: number
  /** The first answer with a receipt. */
  acceptedAt?: number
  /** The first answer with its end. */
  endedAt?: number
  /** Refused, as the call would revert. */
  refused: boolean
  readonly statuses: Set<Receipt['status']>
}

/** All clients that post. They outlast the server that they first asked. */
export interface Callers {
  readonly client: Client
  readonly told: ReadonlyMap<Work, Told>
  /** Lets the callers of the next so many authorizations begin. */
  begin(count: number): void
  /** Resolves when all of them have stopped. */
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
          underWay.push(handled(call({ client, work: one, caller, told: heard, signal: over.signal })))
        }
        if (kind === 'foreign')
          underWay.push(handled(sleep(callers[0]?.afterMs).then(() => takeToChain(chain, one))))
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
  /** Stops the caller. */
  readonly signal: AbortSignal
}

/** One caller, until it has heard the end or has hung up. */
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

/** Records an answer. */
export function note(told: Told, response: Response | undefined): void {
  if (response?.status === 422) told.refused = true
  if (response?.receipt === undefined) return
  told.acceptedAt ??= performance.now()
  told.statuses.add(response.receipt.status)
  if (hasEnded(response)) told.endedAt ??= performance.now()
}
