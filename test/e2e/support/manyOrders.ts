import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from '../../../src/protocol/hex.js'
import { clientOrderIdOf } from '../../../src/protocol/identifiers.js'
import type { Sandbox } from '../../../src/sandbox/sandbox.js'
import { createCrowd, openRounds, post, type UnpostedOrder } from '../../support/crowd.js'
import type { EscrowReader } from '../../support/escrowReader.js'
import { type PlatformMemory, platformMemory } from '../../support/platformProcesses.js'
import { spreadOf } from '../../support/spread.js'
import { withTradingSandbox } from '../../support/tradingSandbox.js'
import { findDisagreements } from './invariants.js'

interface ManyOrdersOptions {
  readonly directory: string
  readonly accounts: number
  /** In all, the same number for each account; twenty at most. */
  readonly orders: number
  readonly print: (line: string) => void
}

interface MemorySample extends PlatformMemory {
  /** Share of the orders that have ended. */
  readonly ended: number
}

/** The findings of a run. */
interface ManyOrdersReport {
  readonly orders: number
  readonly settled: number
  /** From the first post until the last end. */
  readonly seconds: number
  readonly memory: readonly MemorySample[]
  /** Every broken rule. */
  readonly violations: readonly string[]
}

const POSTS_AT_ONCE = 64
const SAMPLE_MS = 1_000
const MS_PER_SECOND = 1_000
/** In MiB, as a process that holds little grows by a garbage collection that has not come yet. */
const SLACK_MIB = 50
const MOST_GROWTH = 1.5
const EARLY = { from: 0.1, to: 0.3 }
const LATE = { from: 0.8, to: 1 }

/** Posts orders of many accounts in one go, and compares their ends with chain and broker. Needs `npm run build`. */
export function runManyOrders(options: ManyOrdersOptions): Promise<ManyOrdersReport> {
  const { directory } = options
  return withTradingSandbox({ directory }, (sandbox, reader) => run(options, sandbox, reader))
}

async function run(
  { accounts, orders: count, print }: ManyOrdersOptions,
  sandbox: Sandbox,
  reader: EscrowReader,
): Promise<ManyOrdersReport> {
  const crowd = await createCrowd(sandbox, accounts)
  const orders = await openRounds(sandbox, crowd, count / accounts)
  print(`${orders.length} escrows of ${accounts} accounts are open`)
  const memory: MemorySample[] = []
  const ended = () => orders.filter(({ orderId }) => reader.orders.get(orderId)?.ends.length).length
  const isOver = new AbortController()
  const sampling = (async () => {
    while (!isOver.signal.aborted) {
      const sample = await platformMemory(sandbox, sandbox.server().pid)
      memory.push({ ended: ended() / orders.length, ...sample })
      await sleep(SAMPLE_MS)
    }
  })()
  const startedAt = performance.now()
  const onBlock = progressOf(orders.length, print)
  const ids = orders.map(({ orderId }) => orderId)
  const seconds = await Promise.all([postAll(sandbox, orders), reader.untilEnded(ids, { onBlock })])
    .then(() => (performance.now() - startedAt) / MS_PER_SECOND)
    .finally(() => {
      isOver.abort()
      return sampling
    })
  const wallets = crowd.accounts.map(({ address }) => address)
  const disagreements = await findDisagreements({ sandbox, wallets })
  const violations = [
    ...faultsOfEnds(reader, orders),
    ...faultsOfPlacements(sandbox, orders),
    ...faultsOfMemory(memory),
    ...disagreements.map((found) => JSON.stringify(found)),
  ]
  const settled = orders.filter(({ orderId }) => reader.orders.get(orderId)?.ends[0]?.state === 'SETTLED')
  return { orders: orders.length, settled: settled.length, seconds, memory, violations }
}

/** Prints progress at each twentieth. */
function progressOf(total: number, print: (line: string) => void): (ended: number) => void {
  let told = 0
  return (ended) => {
    const now = Math.floor((ended * 20) / total)
    if (now > told) print(`${ended} of ${total} have ended`)
    told = now
  }
}

/** An account's one after the other: its second one would use up the nonce of the first. */
async function postAll({ info }: Sandbox, orders: readonly UnpostedOrder[]): Promise<void> {
  const waiting = [...orders]
  const lastOf = new Map<string, Promise<void>>()
  const worker = async () => {
    for (let order = waiting.shift(); order !== undefined; order = waiting.shift()) {
      const next = order
      const posted = (lastOf.get(next.account) ?? Promise.resolve()).then(() => post(info.url, next))
      lastOf.set(next.account, posted)
      await posted
    }
  }
  await Promise.all(Array.from({ length: POSTS_AT_ONCE }, worker))
}

/** Each order must have settled, once. */
function faultsOfEnds(reader: EscrowReader, orders: readonly UnpostedOrder[]): string[] {
  return orders.flatMap(({ orderId }) => {
    const ends = (reader.orders.get(orderId)?.ends ?? []).map(({ state }) => state)
    return ends.join() === 'SETTLED' ? [] : [`${orderId} has ended as ${ends.join(', ') || 'nothing'}`]
  })
}

/** The broker must have one order for each, and no other. */
function faultsOfPlacements({ broker }: Sandbox, orders: readonly UnpostedOrder[]): string[] {
  const placed = new Map<string, number>()
  for (const { account, client_order_id: id } of broker.orders()) {
    if (account === 'enclave') placed.set(id, (placed.get(id) ?? 0) + 1)
  }
  const known = new Map(orders.map(({ orderId }): [string, Hex] => [clientOrderIdOf(orderId), orderId]))
  return [
    ...[...known].flatMap(([id, orderId]) =>
      placed.get(id) === 1 ? [] : [`${orderId} was placed ${placed.get(id) ?? 0} times`],
    ),
    ...[...placed.keys()].filter((id) => !known.has(id)).map((id) => `the broker has a foreign order ${id}`),
  ]
}

/** Ignores the local node, which keeps the state of every block. */
export function faultsOfMemory(samples: readonly MemorySample[]): string[] {
  const within = ({ from, to }: typeof EARLY) => samples.filter(({ ended }) => ended >= from && ended <= to)
  const [early, late] = [within(EARLY), within(LATE)]
  return (['server', 'enclave'] as const).flatMap((part) => {
    const [before, after] = [early, late].map((some) => spreadOf(some.map((sample) => sample[part])).median)
    if (before === undefined || after === undefined || !(after > before * MOST_GROWTH + SLACK_MIB)) return []
    return [`the memory of the ${part} has grown from ${before.toFixed(0)} to ${after.toFixed(0)} MiB`]
  })
}
