// Corporate actions that wait for the owner, or that only the owner's key has made.
import {
  type Broker,
  BrokerError,
  claimsOf,
  dayAfter,
  entryOf,
  everBookedOf,
  haltedOn,
  isOver,
  startOf,
  UNBOOKED_DAYS,
  unborneActions,
} from '../../broker/index.js'
import { createCorporateActions } from '../../chain/contracts.js'
import { RangeRefusedError } from '../../chain/errors.js'
import { type Proposal, readProposals } from '../../chain/proposals.js'
import type { Rpc } from '../../chain/rpc.js'
import { createViewCaller } from '../../chain/views.js'
import type { CorporateEvent } from '../../protocol/actionReport.js'
import type { CorporateAction } from '../../protocol/corporateActions.js'
import { type Finding, fault, notice, ok, unchecked } from '../../protocol/finding.js'
import type { ChainState } from '../chainState.js'
import { booksOf } from '../halts.js'
import { actionsOf } from './actions.js'

const CHECK = 'proposed-actions'

/**
 * Names what the owner has to confirm, and by when; what is proposed on chain; and what the list has although the broker never booked it.
 * @throws ChainUnavailableError, ChainAnswerError
 */
export async function checkActions(
  rpc: Pick<Rpc, 'send'>,
  chain: ChainState,
  broker: Broker,
): Promise<Finding[]> {
  try {
    const { head } = await chain.look()
    const contract = createCorporateActions(createViewCaller(rpc), await chain.token.actions(head.hash))
    const [{ events, today }, listed, found, entries] = await Promise.all([
      actionsOf(chain, broker),
      chain.actions(head),
      chain.deployedAt().then((deployedAt) => readProposals(rpc, contract, deployedAt).catch(unlessRefused)),
      booksOf(chain).then(({ after }) => broker.getBookedEntries({ after })),
    ])
    const findings = [
      ...judge({ events, today, listed, proposals: found ?? [], now: head.timestamp }),
      ...(found
        ? []
        : [unchecked(CHECK, 'the nodes give no events: what is proposed on chain is not known')]),
    ]
    const unborne = unborneActions(listed, everBookedOf(entries))
    return [
      ...unborne.map(({ kind, symbol }) =>
        fault(
          CHECK,
          `in the list, and not booked by the broker: ${kind} of ${symbol}. Unless a portfolio has followed it, every order waits: docs/operations/on-fire.md has the exits`,
        ),
      ),
      ...(findings.length === 0 ? [ok(CHECK, 'no corporate action waits for the owner')] : findings),
    ]
  } catch (error) {
    if (error instanceof BrokerError) return [unchecked(CHECK, `the broker does not answer (${error.kind})`)]
    throw error
  }
}

function unlessRefused(error: unknown): null {
  if (!(error instanceof RangeRefusedError)) throw error
  return null
}

interface Known {
  readonly events: readonly CorporateEvent[]
  /** The exchange's day. */
  readonly today: string
  readonly listed: readonly CorporateAction[]
  readonly proposals: readonly Proposal[]
  /** Unix seconds. */
  readonly now: number
}

function judge({ events, today, listed, proposals, now }: Known): Finding[] {
  const proposed = proposals.map(({ action }, at) => ({ ...action, index: listed.length + at }))
  const oldest = dayAfter(today, -UNBOOKED_DAYS.other)
  const waiting = events
    .filter(({ booked, day }) => booked !== null || day >= oldest)
    .filter((event) => !isConfirmed(event, [...listed, ...proposed]))
  return [
    ...waiting.map((event) => {
      const { kind, symbol, day, booked } = event
      const state = booked === null ? 'is announced' : 'waits for you'
      const isAhead = kind !== 'cash-dividend' && day > today
      const ahead = isAhead ? `: ${symbol} trades for ${spanOf(startOf(day) - now)} more` : ''
      const trades = haltedOn(today, [event], listed).size > 0 ? `: ${symbol} is halted` : ahead
      return notice(CHECK, `${symbol}:${kind}:${day} ${state}${trades}. "operate actions" has it`)
    }),
    ...proposals.map(({ digest, action, effectiveAt }) =>
      notice(
        CHECK,
        `proposed: ${action.kind} of ${action.symbol} (${digest}), in the list from ${new Date(effectiveAt * 1_000).toISOString()} on. Unless it is yours, "operate actions ${digest} --withdraw" ends it`,
      ),
    ),
  ]
}

/** Whether the owner has nothing to do about it until the broker books more. */
function isConfirmed(event: CorporateEvent, known: readonly CorporateAction[]): boolean {
  return event.kind === 'cash-dividend' && event.booked === null
    ? claimsOf(event).some((claim) => entryOf(claim, known) !== undefined)
    : isOver(event, known)
}

const [HOUR_S, DAY_S] = [3_600, 86_400]

function spanOf(seconds: number): string {
  const [exact, unit] = seconds < 2 * DAY_S ? [seconds / HOUR_S, 'hour'] : [seconds / DAY_S, 'day']
  const count = Math.max(Math.floor(exact), 0)
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
