import type { Ticket, TicketDraft } from '../orders/ticketOrder.js'
import { Choice } from '../parts/choice.js'
import { Field, hintId } from '../parts/field.js'

interface LimitProps {
  readonly ticket: Ticket
  readonly error: string | null
  readonly onChange: (to: Partial<TicketDraft>) => void
}

const ENDS = [
  ['DAY', 'At the close'],
  ['GTD', 'When its time is up'],
] as const

/** The price and the end of a limit order. */
export function LimitFields({ ticket, error, onChange }: LimitProps) {
  const { side, limitPrice, timeInForce } = ticket
  return (
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
  )
}
