import type { MarketView, TakenId } from '../../src/client/index.js'
import { feeWords, reviewWords, waitWords, worthOf } from '../orders/review.js'
import {
  available,
  type Checked,
  checkTicket,
  priceOf,
  type TicketFacts,
  withPart,
} from '../orders/ticketCheck.js'
import {
  isDepositOfShares,
  isMove,
  orderOf,
  type TicketDraft,
  type Ticket as TicketFields,
  ticketOf,
} from '../orders/ticketOrder.js'
import { Card } from '../parts/card.js'
import { Choice } from '../parts/choice.js'
import { FailureBox, FailureWords } from '../parts/failureBox.js'
import { Field, hintId } from '../parts/field.js'
import { useAccount, useStore } from '../state/context.js'
import type { PlacingState } from '../state/placing.js'
import { failureOf, isAsleep } from '../words/failures.js'
import { AllowanceFields } from './allowanceFields.js'
import { AmountField } from './amountField.js'
import { LimitFields } from './limitFields.js'
import { OrderStages } from './orderStages.js'
import { TicketSteps } from './ticketSteps.js'
import { useTicketPlan } from './useTicketPlan.js'
import './ticket.css'

const SIDES = [
  ['BUY', 'Buy'],
  ['SELL', 'Sell'],
  ['DEPOSIT', 'Deposit'],
  ['WITHDRAW', 'Withdraw'],
] as const
const SOURCES = [
  ['wallet', 'Wallet'],
  ['cash', 'Portfolio cash'],
] as const
const FEE_PAYERS = [
  ['platform', 'Platform pays'],
  ['wallet', 'Wallet pays'],
] as const
const LIFETIMES = [
  [1, '1 hour'],
  [24, '1 day'],
  [168, '1 week'],
] as const
const VERBS = { BUY: 'Buy', SELL: 'Sell', DEPOSIT: 'Deposit', WITHDRAW: 'Withdraw' }

/** The portfolio of an account that has none yet. */
const NO_PORTFOLIO = { cash: 0n, positions: {}, openOrders: {} }

/** The order ticket. An order that cannot go through cannot be sent, and the button says why. */
export function Ticket({ market }: { market: MarketView }) {
  const { placing, draft, canSponsor } = useAccount()
  const ticket = ticketOf(draft.value, market.symbols[0]?.symbol ?? '')
  const facts = useFacts(market)
  const checked = checkTicket(ticket, facts)
  const order = checked.kind === 'ready' ? checked : null
  const state = placing.state.value
  const isBusy = state.step !== null
  const ofShares = isDepositOfShares(ticket)
  // Until the answer is there, the choice stands: placing asks again before the order is signed.
  const wantsPlatform = canSponsor.value !== false && ticket.feePayer === 'platform' && !ofShares

  const change = (to: Partial<TicketDraft>) => {
    placing.clear()
    draft.value = { ...draft.peek(), ...to }
  }
  const choose = (symbol: string) => change(isMove(ticket.side) ? { asset: symbol } : { equity: symbol })
  const requestOf = (ready: NonNullable<typeof order>) => orderOf(ticket, ready)
  const request = order === null || (wantsPlatform && canSponsor.value === null) ? null : requestOf(order)
  const plan = useTicketPlan(ticket, isBusy ? null : request, wantsPlatform)
  const place = async (event: Event) => {
    event.preventDefault()
    if (order === null || isBusy) return
    if (await placing.place(requestOf(order), { wantsPlatform, approve: plan.approve })) {
      draft.value = { ...draft.peek(), amount: '', allowed: 'order' }
    }
  }
  return (
    <Card title="Order">
      <form onSubmit={place}>
        <Fields ticket={ticket} facts={facts} checked={checked} onChange={change} onSymbol={choose} />
        {canSponsor.value && ofShares ? (
          <p class="hint">
            The platform does not pay for deposits of shares: your wallet pays the network fee.
          </p>
        ) : null}
        {(canSponsor.value || canSponsor.error !== null) && !ofShares ? (
          <Choice
            legend="Network fee"
            name="fee-payer"
            options={FEE_PAYERS}
            value={ticket.feePayer}
            onChange={(feePayer) => change({ feePayer })}
          />
        ) : null}
        {plan.offersAllowance && order !== null ? (
          <AllowanceFields
            {...{ allowed: ticket.allowed, units: order.units, prompts: plan.prompts }}
            onChange={(allowed) => change({ allowed })}
          />
        ) : null}
        <Review ticket={ticket} market={market} checked={checked} facts={facts} />
        <button type="submit" class="primary" disabled={isBusy || order === null} data-test="place">
          {isBusy ? 'Sending…' : buttonWords(checked, ticket)}
        </button>
      </form>
      <OrderStages />
      <TicketSteps planned={plan.prompts} isOrder={request !== null} />
      {state.taken === null ? null : <InTheWay taken={state.taken} onStop={placing.stop} />}
      {state.mayBeOpen ? <MayBeOpen error={state.error} /> : <Failed state={state} />}
    </Card>
  )
}

function useFacts(market: MarketView): TicketFacts {
  const { clock, market: prices, now } = useStore()
  const { funds, walletShares, portfolio, compliance, view } = useAccount()
  return {
    market,
    isAway: isAsleep(prices.error) || isAsleep(clock.error),
    clock: clock.value,
    funds: funds.value,
    walletShares: walletShares.value,
    portfolio: portfolio.value?.portfolio ?? (portfolio.answered ? NO_PORTFOLIO : null),
    compliance: compliance.value,
    view: view.value,
    now: now.value,
  }
}

interface FieldsProps {
  readonly ticket: TicketFields
  readonly facts: TicketFacts
  readonly checked: Checked
  readonly onChange: (to: Partial<TicketDraft>) => void
  readonly onSymbol: (symbol: string) => void
}

function Fields({ ticket, facts, checked, onChange, onSymbol }: FieldsProps) {
  const { side, symbol, payFrom, hours } = ticket
  const errorOf = (field: string) =>
    checked.kind === 'fault' && checked.field === field ? checked.says : null
  return (
    <>
      <Choice
        legend="Side"
        name="side"
        options={SIDES}
        value={side}
        onChange={(to) => onChange({ side: to, amount: '' })}
      />
      <div class="pair">
        <Field label={isMove(side) ? 'Asset' : 'Equity'} id="ticket-symbol" error={errorOf('symbol')}>
          <select
            id="ticket-symbol"
            aria-describedby={errorOf('symbol') === null ? undefined : hintId('ticket-symbol')}
            aria-invalid={errorOf('symbol') !== null}
            value={symbol}
            onChange={({ currentTarget }) => onSymbol(currentTarget.value)}
          >
            {optionsOf(ticket, facts).map((option) => (
              <option key={option}>{option}</option>
            ))}
          </select>
        </Field>
        <Field label="Good for" id="ticket-hours" error={errorOf('hours')}>
          <select
            id="ticket-hours"
            aria-describedby={errorOf('hours') === null ? undefined : hintId('ticket-hours')}
            aria-invalid={errorOf('hours') !== null}
            value={hours}
            onChange={({ currentTarget }) => onChange({ hours: Number(currentTarget.value) })}
          >
            {LIFETIMES.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </Field>
      </div>
      {side === 'BUY' ? (
        <Choice
          legend="Pay from"
          name="pay-from"
          options={SOURCES}
          value={payFrom}
          onChange={(to) => onChange({ payFrom: to })}
        />
      ) : null}
      {isMove(side) || ticket.priced === 'market' ? null : (
        <LimitFields ticket={ticket} error={errorOf('limit')} onChange={onChange} />
      )}
      <AmountField
        ticket={ticket}
        hint={available(ticket, facts)}
        error={errorOf('amount')}
        part={(percent) => withPart(ticket, facts, percent)}
        onChange={onChange}
      />
    </>
  )
}

/** A symbol that is no longer listed can still be sold and moved. The chosen one stays, also once none of it is left. */
function optionsOf(
  { side, symbol }: TicketFields,
  { market, portfolio, walletShares }: TicketFacts,
): readonly string[] {
  const listed = market.symbols.map((equity) => equity.symbol)
  const held = Object.keys(portfolio?.positions ?? {})
  const inWallet = (walletShares ?? []).map((one) => one.symbol)
  const options = {
    BUY: listed,
    SELL: [...listed, ...held],
    DEPOSIT: ['USDC', ...inWallet],
    WITHDRAW: ['USDC', ...held],
  }
  return [...new Set([...options[side], symbol])]
}

interface ReviewProps {
  readonly ticket: TicketFields
  readonly market: MarketView
  readonly checked: Checked
  readonly facts: TicketFacts
}

/** The order in numbers, before it is signed. */
function Review({ ticket, market, checked, facts }: ReviewProps) {
  const { side, symbol } = ticket
  const order = checked.kind === 'ready' ? checked : null
  const fees = feeWords(side, market, { amount: order && worthOf(order), price: priceOf(market, symbol) })
  const waits = waitWords(side, facts.clock)
  // Without an order the hours may only be unknown because the page has just been opened.
  const isWaitShown = facts.clock === null ? order !== null : checked.kind !== 'fault'
  return (
    <>
      {checked.kind === 'fault' && checked.field === null ? (
        <p class="box box-wait" role="status">
          {checked.says}
        </p>
      ) : null}
      {waits !== null && isWaitShown ? <p class="review review-wait">{waits}</p> : null}
      {order === null ? null : (
        <p class="review" data-test="review">
          <b>{reviewWords(ticket, order, market)}</b> {fees}
        </p>
      )}
    </>
  )
}

function buttonWords(checked: Checked, { side, symbol, amount }: TicketFields): string {
  if (checked.kind === 'fault') return checked.brief
  if (checked.kind === 'ready') return `${VERBS[side]} ${symbol}`
  return amount.trim() === '' ? 'Enter an amount' : 'Enter a limit price'
}

/** Another wallet copies the ids of this wallet's pending orders, so that none opens. */
function InTheWay({ taken: { by, times }, onStop }: { taken: TakenId; onStop: () => void }) {
  return (
    <div class="box box-bad" role="alert">
      <strong>Another wallet is blocking this order</strong>
      <p>
        It has taken this order’s id {times === 1 ? 'once' : `${times} times`}. No escrow was opened, and your
        wallet asks you to sign again under a new id. Report this wallet to the operator:
      </p>
      <p>
        <code class="whole" data-test="in-the-way">
          {by}
        </code>
      </p>
      <button type="button" class="quiet" onClick={onStop}>
        Stop trying
      </button>
    </div>
  )
}

/** Without its server an order does not begin, and its owner wants to know first that no money moved. */
function Failed({ state: { error, isUnsent } }: { state: PlacingState }) {
  if (!isUnsent || !isAsleep(error)) return <FailureBox error={error} />
  const advice = 'The order was not sent, and no money moved. Place it again once the server is back.'
  return <FailureWords title={failureOf(error).title} advice={advice} />
}

/** Does not advise trying again, because that could escrow a second time. */
function MayBeOpen({ error }: { error: unknown }) {
  return (
    <div class="box box-warn" role="alert">
      <strong>The order may be open</strong>
      <p>{failureOf(error).title}. Check your orders before you order again.</p>
    </div>
  )
}
