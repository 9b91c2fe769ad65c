import { type Command, InvalidArgumentError } from 'commander'
import * as z from 'zod'
import type { Client, Hex, Notice, OrderStatus } from '../../client/index.js'
import { depositSchema } from '../../protocol/api.js'
import { isOfWait } from '../../protocol/notice.js'
import { isToldByNotice, type WaitReason } from '../../protocol/outcome.js'
import { MAX_TIMER_MS } from '../../protocol/timeLimit.js'
import { SHARE_DECIMALS, USDC_DECIMALS } from '../../protocol/units.js'
import { EXIT, type ExitCode } from '../../service/exitCodes.js'
import { aDuration } from '../../terminal/arguments.js'
import { CommandError } from '../../terminal/failure.js'
import { type Cell, fields, shownTime } from '../../terminal/render.js'
import type { Report } from '../../terminal/terminal.js'
import type { CommandContext } from '../context.js'

/** An order's status, with the notice if its key is available. */
export function orderReport(status: OrderStatus, notice: Notice | null): Report {
  const run = status.triggers.at(-1)
  const reason = notice && { code: notice.code, message: notice.message }
  const rows: [string, Cell][] = [
    ['order', status.orderId],
    ['state', status.state],
    ['account', status.account ?? 'none'],
    ['escrowed', escrowCell(status)],
    ['deadline', shownTime(status.deadline)],
    ['enclave runs', run ? `${status.triggers.length}, last: ${runWords(run)}` : '0'],
    ['next run', shownTime(status.nextTriggerAt)],
  ]
  if (status.cancelReceivedAt !== undefined) rows.push(['cancelled', shownTime(status.cancelReceivedAt)])
  if (reason) rows.push([noticeLabel(status, reason), `${reason.message} (${reason.code})`])
  return { json: jsonOf(status, reason), blocks: [fields(rows)] }
}

function noticeLabel({ state }: OrderStatus, { code }: Pick<Notice, 'code'>): string {
  if (state === 'SETTLED') return 'filled'
  return isOfWait(code) ? 'waits' : 'refused'
}

function escrowCell({ amount, deposit }: OrderStatus): Cell {
  return deposit === undefined
    ? { units: amount ?? 0n, decimals: USDC_DECIMALS, unit: 'USDC' }
    : { units: deposit.shares, decimals: SHARE_DECIMALS, unit: deposit.symbol }
}

function jsonOf(status: OrderStatus, notice: Pick<Notice, 'code' | 'message'> | null) {
  const { orderId, state, account, amount, deposit, deadline, commit } = status
  const { receivedAt, triggers, nextTriggerAt } = status
  return {
    ...{ orderId, state, account, amount: amount?.toString() ?? null },
    ...(deposit !== undefined && { deposit: z.encode(depositSchema, deposit) }),
    ...{ deadline, commit, receivedAt },
    ...{ triggers, nextTriggerAt, notice },
    ...(status.cancelReceivedAt !== undefined && { cancelReceivedAt: status.cancelReceivedAt }),
  }
}

/** One line for each change of an order that is followed. */
function progressOf({ state, triggers, nextTriggerAt, deadline, ...status }: OrderStatus): string {
  const run = triggers.at(-1)
  const enclave = run ? `, enclave run ${run.attempt}: ${runWords(run)}` : ''
  const next = nextTriggerAt === null ? '' : `, next run ${shownTime(nextTriggerAt)}`
  const until = nextTriggerAt === null || deadline === null ? '' : `, deadline ${shownTime(deadline)}`
  const cancel = status.cancelReceivedAt === undefined || state !== 'OPEN' ? '' : ', to be cancelled'
  return `${state}${cancel}${enclave}${next}${until}`
}

/** How an enclave run ended, and why its order waits. */
export function runWords({
  outcome,
  waitsFor,
}: Pick<OrderStatus['triggers'][number], 'outcome' | 'waitsFor'>): string {
  if (outcome === 'failed') return "failed, is tried again; if it goes on, tell the platform's operator"
  if (waitsFor !== undefined) return `${outcome}: ${WAITS[waitsFor]} (${waitsFor})`
  return outcome === 'queued' ? 'queued: waits, the enclave tries again' : (outcome ?? 'under way')
}

const WAITS: Readonly<Record<WaitReason, string>> = {
  'market-closed': 'waits for the market to open',
  paused: 'waits for the end of a pause',
  'relay-quota-exhausted': 'your gas quota for today is used up, continues at midnight UTC',
  'relay-budget-exhausted': "the platform's gas budget for today is used up, continues at midnight UTC",
  'broker-rate-limit': "waits for the broker's rate limit",
  'broker-turn': 'waits for its turn at the broker',
  'chain-depth': "waits for the chain's confirmations",
  'actions-unknown': 'waits until the broker says whether a corporate action changes the shares',
}

/** Says more of a wait, where its owner alone may know. A key that does not open it is a matter of the order's end. */
async function waitOf(client: Client, status: OrderStatus): Promise<string | null> {
  if (!isToldByNotice(status.triggers.at(-1)?.waitsFor)) return null
  const notice = await client.openNotice(status).catch(() => null)
  return notice && isOfWait(notice.code) ? notice.message : null
}

/** The exit code of a final order, or `pending` for an open one. */
export function exitOf({ state }: Pick<OrderStatus, 'state'>): ExitCode {
  if (state === 'SETTLED') return EXIT.done
  return state === 'REFUNDED' ? EXIT.refused : EXIT.pending
}

/** The options of a command that follows an order. */
export interface Following {
  readonly wait: boolean
  /** In milliseconds. */
  readonly timeout?: number
}

/** @param noWait where the command ends without following */
export function addFollowing(command: Command, noWait: string): Command {
  return command
    .option('--no-wait', noWait)
    .option(
      '--timeout <duration>',
      'stops following after this time, up to 24d, with exit code 4; the order continues',
      (text) => {
        const timeoutMs = aDuration(text) * 1_000
        // A longer timer would fire at once, after the order was placed.
        if (timeoutMs > MAX_TIMER_MS) throw new InvalidArgumentError('expected at most 24d')
        return timeoutMs
      },
    )
}

/** Reports an order as it is, or follows it to its end, reports that, and ends with its exit code. */
export async function conclude(
  orderId: Hex,
  client: Client,
  { terminal, signal, endWith }: CommandContext,
  { wait, timeout: timeoutMs }: Following,
  exitOf: (status: OrderStatus) => ExitCode,
): Promise<void> {
  if (!wait) {
    terminal.result(orderReport(await client.getOrder(orderId, { signal }), null))
    return
  }
  const timeout = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs)
  const watched = timeout ? AbortSignal.any([signal, timeout]) : signal
  try {
    const onChange = async (status: OrderStatus) => {
      terminal.progress(progressOf(status))
      const wait = await waitOf(client, status)
      if (wait !== null) terminal.progress(wait)
    }
    const status = await followToEnd(client, orderId, { signal: watched, onChange })
    terminal.result(orderReport(status, await client.openNotice(status)))
    endWith(exitOf(status))
  } catch (error) {
    const advice = `follow it with "watch ${orderId}"`
    if (signal.aborted) throw new CommandError('interrupted', `the order continues; ${advice}`)
    if (timeout?.aborted) {
      throw new CommandError('pending', `the order has not ended and continues; ${advice}`)
    }
    throw error
  }
}

/** Follows an order to its end. */
async function followToEnd(
  client: Client,
  orderId: Hex,
  { signal, onChange }: { signal: AbortSignal; onChange: (status: OrderStatus) => Promise<void> },
): Promise<OrderStatus> {
  let last = await client.getOrder(orderId, { signal })
  for await (const status of client.listOrderStatuses(orderId, { signal })) {
    last = status
    await onChange(status)
  }
  return last
}
