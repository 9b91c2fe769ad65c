import { useState } from 'preact/hooks'
import type { Funds, MarketView, Portfolio, TakenId } from '../../src/client/index.js'
import { Card } from '../parts/card.js'
import { Choice } from '../parts/choice.js'
import { FailureBox } from '../parts/failureBox.js'
import { Field, hintId } from '../parts/field.js'
import { useAccount, useStore } from '../state/context.js'
import { failureOf } from '../words/failures.js'
import { feeWords } from '../words/fees.js'
import { shares } from '../words/format.js'
import { available } from './available.js'
import { amountOf, decimalsOf, estimate, orderOf, type Ticket as TicketFields } from './ticketOrder.js'
import { TicketSteps } from './ticketSteps.js'

interface TicketProps {
  readonly market: MarketView
  readonly symbol: string
  readonly onSymbol: (symbol: string) => void
}

const SIDES = [
  ['BUY', 'Buy'],
  ['SELL', 'Sell'],
  ['WITHDRAW', 'Withdraw'],
] as const
const SOURCES = [
  ['wallet', 'Wallet'],
  ['cash', 'Portfolio cash'],
] as const
const LIFETIMES = [
  [1, 'an hour'],
  [24, 'a day'],
  [168, 'a week'],
] as const
const VERBS = { BUY: 'Buy', SELL: 'Sell', WITHDRAW: 'Withdraw' }

export function Ticket(props: TicketProps) {
  const { market, onSymbol } = props
  const clock = useStore().clock.value
  const account = useAccount()
  const funds = account.funds.value
  const portfolio = account.portfolio.value?.portfolio ?? null
  const placing = account.placing.state.value
  const isBusy = placing.step !== null
  const [side, setSide] = useState<TicketFields['side']>('BUY')
  const [amount, setAmount] = useState('')
  const [payFrom, setPayFrom] = useState<TicketFields['payFrom']>('wallet')
  const [hours, setHours] = useState(24)
  const [withdrawn, setWithdrawn] = useState('USDC')
  const symbol = side === 'WITHDRAW' ? withdrawn : props.symbol
  const ticket = { side, symbol, amount, payFrom, hours }
  const units = amountOf(ticket)
  const symbols =
    side === 'WITHDRAW'
      ? ['USDC', ...Object.keys(portfolio?.positions ?? {})]
      : market.symbols.map((equity) => equity.symbol)

  const amountNow = typeof units === 'bigint' ? units : null
  const fees = feeWords(side, market, { amount: amountNow, price: priceOf(market, symbol) })

  const place = async (event: Event) => {
    event.preventDefault()
    if (typeof units !== 'bigint') return
    if (await account.placing.place(orderOf(ticket, units, Date.now()))) setAmount('')
  }
  return (
    <Card title="Order">
      <form onSubmit={place}>
        <Choice legend="Side" name="side" options={SIDES} value={side} onChange={setSide} />
        <Field label={side === 'WITHDRAW' ? 'What' : 'Equity'} id="ticket-symbol">
          <select
            id="ticket-symbol"
            value={symbol}
            onChange={({ currentTarget: { value } }) =>
              side === 'WITHDRAW' ? setWithdrawn(value) : onSymbol(value)
            }
          >
            {symbols.map((option) => (
              <option key={option}>{option}</option>
            ))}
          </select>
        </Field>
        <Field
          label={decimalsOf(ticket) === 6 ? 'Amount in USDC' : 'Number of shares'}
          id="ticket-amount"
          hint={hintOf(ticket, units, { market, funds, portfolio })}
        >
          <input
            id="ticket-amount"
            aria-describedby={hintId('ticket-amount')}
            inputMode="decimal"
            autocomplete="off"
            required
            value={amount}
            aria-invalid={typeof units === 'string'}
            onInput={(event) => setAmount(event.currentTarget.value)}
          />
        </Field>
        {side === 'BUY' ? (
          <Choice legend="Pay from" name="pay-from" options={SOURCES} value={payFrom} onChange={setPayFrom} />
        ) : null}
        <Field label="Cancel the rest after" id="ticket-hours">
          <select
            id="ticket-hours"
            value={hours}
            onChange={(event) => setHours(Number(event.currentTarget.value))}
          >
            {LIFETIMES.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </Field>
        {clock !== null && !clock.isOpen && side !== 'WITHDRAW' ? (
          <p class="box">The market is closed. The order waits, sealed, until it opens.</p>
        ) : null}
        {fees === '' ? null : (
          <p class="muted" data-test="fees">
            {fees}
          </p>
        )}
        <button type="submit" class="primary" disabled={isBusy || typeof units !== 'bigint'}>
          {isBusy ? 'Placing…' : `${VERBS[side]} ${symbol}`}
        </button>
      </form>
      <TicketSteps
        step={placing.step}
        unlocked={account.key.value !== null}
        escrowed={side === 'BUY' && payFrom === 'wallet' && typeof units === 'bigint' ? units : 0n}
        allowance={funds?.allowance ?? 0n}
      />
      {placing.taken === null ? null : <InTheWay taken={placing.taken} onStop={account.placing.stop} />}
      {placing.mayBeOpen ? <MayBeOpen error={placing.error} /> : <FailureBox error={placing.error} />}
    </Card>
  )
}

/** Another wallet copies the ids of this wallet's pending orders, so that none opens. */
function InTheWay({ taken: { by, times }, onStop }: { taken: TakenId; onStop: () => void }) {
  return (
    <div class="box box-bad" role="alert">
      <strong>Another wallet blocks this order</strong>
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

/** Does not advise trying again, because that could escrow a second time. */
function MayBeOpen({ error }: { error: unknown }) {
  return (
    <div class="box box-bad" role="alert">
      <strong>The order may be open</strong>
      <p>{failureOf(error).title}. Check your orders before you order again.</p>
    </div>
  )
}

/** The fault of the amount; otherwise its estimate and the available funds. */
function hintOf(
  { side, symbol, payFrom }: TicketFields,
  units: bigint | string | null,
  { market, funds, portfolio }: { market: MarketView; funds: Funds | null; portfolio: Portfolio | null },
): string {
  if (typeof units === 'string') return units
  const price = priceOf(market, symbol)
  const about = units === null || side === 'WITHDRAW' ? null : estimate(units, price)
  const comesTo = about === null ? '' : `About ${shares(about)} shares now. `
  return comesTo + available({ side, symbol, payFrom }, funds, portfolio)
}

function priceOf({ symbols }: MarketView, symbol: string): bigint | null {
  return symbols.find((equity) => equity.symbol === symbol)?.price ?? null
}
