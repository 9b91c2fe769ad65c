import { formatDecimal, SHARE_DECIMALS, USDC_DECIMALS } from '../../src/client/index.js'
import { Field, hintId } from '../parts/field.js'
import { partOf } from './ticketCheck.js'
import { isMove, type Ticket, type TicketDraft, unitOf } from './ticketOrder.js'

interface AmountProps {
  readonly ticket: Ticket
  readonly hint: string
  readonly error: string | null
  /** In the ticket's unit; null while it is unknown. */
  readonly available: bigint | null
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
export function AmountField({ ticket, hint, error, available, onChange }: AmountProps) {
  const unit = unitOf(ticket)
  const typed = (units: bigint) => formatDecimal(units, unit === 'usdc' ? USDC_DECIMALS : SHARE_DECIMALS)
  return (
    <Field
      label={unit === 'usdc' ? 'Amount in USDC' : 'Number of shares'}
      id="ticket-amount"
      hint={hint}
      error={error}
      aside={
        isMove(ticket.side) ? null : (
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
            disabled={available === null || available === 0n}
            onClick={() =>
              available !== null && onChange({ amount: typed(partOf(ticket, available, percent)) })
            }
          >
            {label}
          </button>
        ))}
      </fieldset>
    </Field>
  )
}
