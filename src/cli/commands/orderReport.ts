import type { Client, Hex, Notice, OrderStatus } from '../../client/index.js'
import { USDC_DECIMALS } from '../../protocol/units.js'
import { EXIT, type ExitCode } from '../exitCodes.js'
import type { Cell } from '../terminal/render.js'
import type { Report } from '../terminal/terminal.js'
import { shownTime } from '../terminal/times.js'

/** An order's status; with the notice when somebody holds its key. */
export function orderReport(status: OrderStatus, notice: Notice | null): Report {
  const run = status.triggers.at(-1)
  const reason = notice && { code: notice.code, message: notice.message }
  const fields: [string, Cell][] = [
    ['order', status.orderId],
    ['state', status.state],
    ['account', status.account ?? 'none'],
    ['escrowed', { units: status.amount ?? 0n, decimals: USDC_DECIMALS, unit: 'USDC' }],
    ['deadline', shownTime(status.deadline)],
    ['enclave runs', run ? `${status.triggers.length}, the last: ${runWords(run)}` : '0'],
    ['next run', shownTime(status.nextTriggerAt)],
  ]
  const became = status.state === 'SETTLED' ? 'filled' : 'refused'
  if (reason) fields.push([became, `${reason.message} (${reason.code})`])
  return { json: jsonOf(status, reason), blocks: [{ kind: 'fields', fields }] }
}

function jsonOf(status: OrderStatus, notice: Pick<Notice, 'code' | 'message'> | null) {
  const { orderId, state, account, amount, deadline, commit, receivedAt, triggers, nextTriggerAt } = status
  return {
    ...{ orderId, state, account, amount: amount?.toString() ?? null, deadline, commit, receivedAt },
    ...{ triggers, nextTriggerAt, notice },
  }
}

/** One line for each change of an order that is followed. */
export function progressOf({ state, triggers, nextTriggerAt }: OrderStatus): string {
  const run = triggers.at(-1)
  const enclave = run ? `, enclave run ${run.attempt}: ${runWords(run)}` : ''
  const next = nextTriggerAt === null ? '' : `, next run ${shownTime(nextTriggerAt)}`
  return `${state}${enclave}${next}`
}

function runWords({ outcome, waitsFor }: OrderStatus['triggers'][number]): string {
  return waitsFor === undefined ? (outcome ?? 'under way') : `${outcome} (${waitsFor})`
}

/** Of a final order; an open one is pending. */
export function exitOf({ state }: Pick<OrderStatus, 'state'>): ExitCode {
  if (state === 'SETTLED') return EXIT.done
  return state === 'REFUNDED' ? EXIT.refused : EXIT.pending
}

/** Follows an order to its end. */
export async function followToEnd(
  client: Client,
  orderId: Hex,
  { signal, onChange }: { signal: AbortSignal; onChange: (status: OrderStatus) => void },
): Promise<OrderStatus> {
  let last = await client.getOrder(orderId, signal)
  for await (const status of client.followOrder(orderId, { signal })) {
    last = status
    onChange(status)
  }
  return last
}
