import type { Prompt } from '../../src/client/index.js'
import { allowanceWords } from '../orders/allowance.js'
import type { Ticket } from '../orders/ticketOrder.js'
import { Choice } from '../parts/choice.js'

interface AllowanceProps {
  readonly allowed: Ticket['allowed']
  /** The order's USDC, in base units. */
  readonly units: bigint
  /** What the wallet will be asked by this choice; null until it is known. */
  readonly prompts: readonly Prompt[] | null
  readonly onChange: (allowed: Ticket['allowed']) => void
}

const ALLOWED = [
  ['order', 'For this order'],
  ['later', 'For later ones too'],
] as const

/** What the escrow may take from a wallet that pays itself. */
export function AllowanceFields({ allowed, units, prompts, onChange }: AllowanceProps) {
  return (
    <>
      <Choice
        legend="The escrow may take USDC"
        name="allowed"
        options={ALLOWED}
        value={allowed}
        onChange={onChange}
      />
      <p class="review" data-test="allowed">
        {allowanceWords(allowed, units, prompts)}
      </p>
    </>
  )
}
