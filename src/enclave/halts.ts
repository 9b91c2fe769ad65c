// A symbol is halted from a corporate action's day until the public list has it: broker and portfolios count in different shares then.
import {
  type Broker,
  BrokerError,
  bookingsOf,
  dayAfter,
  dayAt,
  eventsOf,
  exBetween,
  haltedOn,
} from '../broker/index.js'
import type { CorporateEvent } from '../protocol/actionReport.js'
import { retiredSymbols } from '../protocol/corporateActions.js'
import { bytes32ToName } from '../protocol/identifiers.js'
import { PostponedError } from './failures.js'
import { USDC } from './money.js'
import type { NoticeCode } from './notices.js'
import type { Run } from './run.js'

/** Days of announcements. Older ones cannot halt any more, and later ones do not matter yet. */
const LOOK_BACK_DAYS = 365
const LOOK_AHEAD_DAYS = 90
/** The pause between two questions about actions that could not be read for too long. */
const UNKNOWN_AGAIN_S = 60

/** The first day of the deployment, and the time after which its entries are. */
export async function booksOf(chain: Pick<Run['chain'], 'deployedAt'>) {
  return booksSince(new Date((await chain.deployedAt()) * 1_000))
}

/** The same from the time of the deployment on: entries of a day bear its midnight. */
export function booksSince(deployed: Date) {
  const first = dayAt(deployed)
  return { first, after: new Date(Date.parse(first) - 1) }
}

/** Everything that the broker has announced about these symbols, or booked since the contracts were deployed. */
export async function readEvents(
  {
    broker,
    chain,
  }: {
    broker: Pick<Broker, 'getAnnouncements' | 'getBookedEntries'>
    chain: Pick<Run['chain'], 'deployedAt'>
  },
  symbols: readonly string[],
  today: string,
): Promise<CorporateEvent[]> {
  const { first, after } = await booksOf(chain)
  const oldest = dayAfter(today, -LOOK_BACK_DAYS)
  const booked = bookingsOf(await broker.getBookedEntries({ after }))
  // What was booked may be of a symbol that is neither listed nor held any more.
  const named = booked.map(({ symbol, successor }) => symbol || successor)
  const sorted = [...new Set([...symbols, ...named.filter((name) => name !== '')])].sort()
  const start = first > oldest ? first : oldest
  const end = dayAfter(today, LOOK_AHEAD_DAYS)
  return eventsOf(await broker.getAnnouncements({ symbols: sorted, start, end }), booked)
}

/**
 * The symbols among these and the listed ones that are halted. The list counts as it stands at the depth of permissions.
 * @param of.session whether of the market's next session, or of the present one; else of today
 * @param of.hasFills also those whose dividends count what is held before that session: fills of an order count from its end on alone
 * @throws PostponedError `actions-unknown` where nobody knows what was announced: no order is placed then
 */
export async function readHalted(
  run: Pick<Run, 'broker' | 'chain' | 'clock'>,
  symbols: readonly string[],
  { session, hasFills = false }: { session: boolean; hasFills?: boolean },
): Promise<ReadonlySet<string>> {
  const [{ deep }, { timestamp, isOpen, nextOpen }] = await Promise.all([
    run.chain.look(),
    run.broker.getClock(),
  ])
  const [listed, actions] = await Promise.all([
    run.chain.token.listedSymbols(deep.hash),
    run.chain.actions(deep),
  ])
  const names = listed.map(bytes32ToName).filter((name) => name !== null)
  const known = [...names, ...symbols, ...retiredSymbols(actions)]
  const broker = {
    ...run.broker,
    getAnnouncements: (filter: Parameters<Broker['getAnnouncements']>[0]) =>
      run.broker.getAnnouncements(filter).catch((error: unknown) => {
        if (!(error instanceof BrokerError)) throw error
        throw new PostponedError('actions-unknown', run.clock.seconds() + UNKNOWN_AGAIN_S)
      }),
  }
  const today = dayAt(timestamp)
  const events = await readEvents({ ...run, broker }, known, today)
  const day = isOpen || !session ? today : dayAt(nextOpen)
  return new Set([...haltedOn(day, events, actions), ...(hasFills ? exBetween(today, day, events) : [])])
}

/**
 * Whether an order of this symbol would trade in other shares than its portfolio counts in.
 * @param hasFills whether a part of it is filled, which a dividend's claim would miss
 */
export async function isHalted(
  run: Pick<Run, 'broker' | 'chain' | 'clock'>,
  symbol: string,
  hasFills = false,
): Promise<boolean> {
  return symbol !== USDC && (await readHalted(run, [symbol], { session: true, hasFills })).has(symbol)
}

/** The verdict about an order, or its refusal because the symbol is halted. */
export async function unlessHalted<V extends object>(
  run: Run,
  symbol: string,
  verdict: V,
  hasFills = false,
): Promise<V | { refused: NoticeCode }> {
  if ('refused' in verdict) return verdict
  return (await isHalted(run, symbol, hasFills)) ? { refused: 'corporate-action' } : verdict
}
