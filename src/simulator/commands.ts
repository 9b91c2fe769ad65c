import type * as z from 'zod'
import { PRICE_DECIMALS, parseDecimal, SHARE_DECIMALS } from '../protocol/units.js'
import { type ControlCommand, controlSchemas, type Fault, type FillRule } from './controlSchemas.js'
import type { CorporateActions } from './corporateActions.js'
import type { Lifecycle } from './lifecycle.js'
import type { Market } from './market.js'
import type { StandInClock } from './marketClock.js'
import { CASH_DECIMALS, liveOrders } from './money.js'
import type { AccountRateLimit } from './rateLimit.js'
import type { Rules } from './rules.js'
import type { StandInAccount, StandInOrder } from './types.js'

/** Each command parses its own input, so HTTP and in-process callers pass the same checks. */
export type ControlRunners = { readonly [C in ControlCommand]: (input: unknown) => void }

/** The control commands, one per schema. */
export function createCommands(deps: {
  readonly accounts: readonly StandInAccount[]
  readonly market: Market
  readonly clock: StandInClock
  readonly lifecycle: Lifecycle
  readonly fillRules: Rules<FillRule>
  readonly faults: Rules<Fault>
  readonly rateLimit: AccountRateLimit
  readonly corporateActions: CorporateActions
}): ControlRunners {
  const { market, clock, lifecycle, fillRules, faults, rateLimit, corporateActions } = deps
  return {
    clock: command(controlSchemas.clock, ({ open, nextOpen, nextClose }) => {
      if (!open && clock.isOpen()) lifecycle.closed()
      clock.set({ open, nextOpen: dateOf(nextOpen), nextClose: dateOf(nextClose) })
    }),
    price: command(controlSchemas.price, ({ symbol, price, bid, ask }) => {
      market.setPrice(symbol, priceOf(price), {
        bid: bid === undefined ? bid : priceOf(bid),
        ask: ask === undefined ? ask : priceOf(ask),
      })
    }),
    walk: command(controlSchemas.walk, ({ steps = 1 }) => {
      for (let step = 0; step < steps; step++) market.walk()
    }),
    snapshot: command(controlSchemas.snapshot, ({ symbol, omit }) => {
      market.listing(symbol).omit = omit === 'all' ? omit : new Set(omit)
    }),
    asset: command(controlSchemas.asset, ({ symbol, ...flags }) => {
      const listing = market.listing(symbol)
      listing.status = flags.status ?? listing.status
      listing.tradable = flags.tradable ?? listing.tradable
      listing.fractionable = flags.fractionable ?? listing.fractionable
    }),
    account: command(controlSchemas.account, ({ name, cash, positions }) => {
      const account = accountOf(deps.accounts, name)
      if (cash !== undefined) account.cash = parseDecimal(cash, CASH_DECIMALS)
      if (positions !== undefined) setPositions(account, market, positions)
    }),
    fill: command(controlSchemas.fill, (rule) => fillRules.add(rule)),
    release: command(controlSchemas.release, ({ fraction, ...selection }) => {
      for (const [account, order] of selected(deps.accounts, selection))
        lifecycle.fill(account, order, fraction)
    }),
    end: command(controlSchemas.end, ({ status, ...selection }) => {
      for (const [, order] of selected(deps.accounts, selection)) lifecycle.end(order, status)
    }),
    fault: command(controlSchemas.fault, (fault) => faults.add(fault)),
    announce: command(controlSchemas.announce, corporateActions.announce),
    book: command(controlSchemas.book, corporateActions.book),
    clear: command(controlSchemas.clear, ({ what }) => (what === 'fills' ? fillRules : faults).clear()),
    limit: command(controlSchemas.limit, ({ perMinute }) => rateLimit.enforce(perMinute)),
  }
}

function command<S extends z.ZodType>(
  schema: S,
  act: (input: z.output<S>) => void,
): (input: unknown) => void {
  return (input) => act(schema.parse(input))
}

function priceOf(text: string): bigint {
  return parseDecimal(text, PRICE_DECIMALS)
}

function dateOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text)
}

function accountOf(accounts: readonly StandInAccount[], name: string): StandInAccount {
  const account = accounts.find((candidate) => candidate.name === name)
  if (!account) throw new RangeError(`no such account: ${name}`)
  return account
}

function setPositions(account: StandInAccount, market: Market, positions: Record<string, string>): void {
  for (const [symbol, text] of Object.entries(positions)) {
    const qty = parseDecimal(text, SHARE_DECIMALS)
    const cost = qty * market.listing(symbol).last
    if (qty === 0n) account.positions.delete(symbol)
    else account.positions.set(symbol, { qty, cost })
  }
}

function selected(
  accounts: readonly StandInAccount[],
  selection: Omit<z.output<typeof controlSchemas.release>, 'fraction'>,
): [StandInAccount, StandInOrder][] {
  return accounts
    .filter(({ name }) => (selection.account ?? name) === name)
    .flatMap((account) =>
      liveOrders(account).map((order): [StandInAccount, StandInOrder] => [account, order]),
    )
    .filter(([, order]) => (selection.symbol ?? order.symbol) === order.symbol)
    .filter(([, order]) => (selection.clientOrderId ?? order.clientOrderId) === order.clientOrderId)
}
