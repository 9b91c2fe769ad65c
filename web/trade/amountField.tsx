import { isMove, type Ticket, type TicketDraft, unitOf } from '../orders/ticketOrder.js'
import { Field, hintId } from '../parts/field.js'

interface AmountProps {
  readonly ticket: Ticket
  readonly hint: string
  readonly error: string | null
  /** The change of the ticket for a part of the available amount; null while that is unknown. */
  readonly part: (percent: bigint) => Partial<TicketDraft> | null
  readonly onChange: (to: Partial<TicketDraft>) => void
}

const UNITS = [
  ['usdc', 'USDC'],
  ['shares', 'Shares'],
] as const
const PARTS = [
  [25n, '25 %'],
  [50n, '50 %'],
  [75n, '75 %'],
  [100n, 'Max'],
] as const

/** The amount, in USDC or in shares, and parts of what is available. */
export function AmountField({ ticket, hint, error, part, onChange }: AmountProps) {
  const unit = unitOf(ticket)
  return (
    <Field
      label={unit === 'usdc' ? 'Amount in USDC' : 'Number of shares'}
      id="ticket-amount"
      hint={hint}
      error={error}
      aside={
        isMove(ticket.side) ? null : (
          <div class="units">
            <button
              type="button"
              class="unit"
              aria-pressed={ticket.priced === 'limit'}
              onClick={() => onChange({ priced: ticket.priced === 'limit' ? 'market' : 'limit' })}
            >
              Limit
            </button>
            <fieldset class="units" aria-label="Unit of the amount">
              {UNITS.map(([value, label]) => (
                <button
                  key={value}
                  type="button"
                  class="unit"
                  aria-pressed={unit === value}
                  onClick={() => onChange({ unit: value, amount: '' })}
                >
                  {label}
                </button>
              ))}
            </fieldset>
          </div>
        )
      }
    >
      <input
        id="ticket-amount"
        aria-describedby={hintId('ticket-amount')}
        inputMode="decimal"
        autocomplete="off"
        required
        value={ticket.amount}
        aria-invalid={error !== null}
        onInput={(event) => onChange({ amount: event.currentTarget.value })}
      />
      <fieldset class="parts" aria-label="Part of what is available">
        {PARTS.map(([percent, label]) => (
          <button
            key={label}
            type="button"
            class="quiet"
            disabled={part(percent) === null}
            onClick={() => onChange(part(percent) ?? {})}
          >
            {label}
          </button>
        ))}
      </fieldset>
    </Field>
  )
}
