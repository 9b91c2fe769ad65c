import type { Ticket, TicketDraft } from '../orders/ticketOrder.js'
import { Choice } from '../parts/choice.js'
import { Field, hintId } from '../parts/field.js'

interface LimitProps {
  readonly ticket: Ticket
  readonly error: string | null
  readonly onChange: (to: Partial<TicketDraft>) => void
}

const PRICES = [
  ['market', 'Market'],
  ['limit', 'Limit'],
] as const
const ENDS = [
  ['DAY', 'At the close'],
  ['GTD', 'When its time is up'],
] as const

/** The price of a buy or a sale: the market's, or a limit, which only the enclave and the broker see. */
export function LimitFields({ ticket, error, onChange }: LimitProps) {
  const { side, priced, limitPrice, timeInForce } = ticket
  return (
    <>
      <Choice
        legend="Price"
        name="priced"
        options={PRICES}
        value={priced}
        onChange={(to) => onChange({ priced: to })}
      />
      {priced === 'market' ? null : (
        <>
          <Field
            label={side === 'BUY' ? 'Highest price in USD' : 'Lowest price in USD'}
            id="ticket-limit"
            hint="Sealed: only the enclave and the broker see it."
            error={error}
          >
            <input
              id="ticket-limit"
              aria-describedby={hintId('ticket-limit')}
              inputMode="decimal"
              autocomplete="off"
              required
              value={limitPrice}
              aria-invalid={error !== null}
              onInput={({ currentTarget }) => onChange({ limitPrice: currentTarget.value })}
            />
          </Field>
          <Choice
            legend="Ends"
            name="time-in-force"
            options={ENDS}
            value={timeInForce}
            onChange={(to) => onChange({ timeInForce: to })}
          />
        </>
      )}
    </>
  )
}
