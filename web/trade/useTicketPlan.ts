import { useEffect, useState } from 'preact/hooks'
import type { OrderRequest, PlanOptions, Prompt } from '../../src/client/index.js'
import { allowanceFor, wouldSaveRequests } from '../orders/allowance.js'
import { isPaidByWallet, type Ticket } from '../orders/ticketOrder.js'
import { useAccount } from '../state/context.js'

interface TicketPlan {
  /** What the wallet will be asked; null until it is known. */
  readonly prompts: readonly Prompt[] | null
  /** Whether an allowance for later orders would save requests. */
  readonly offersAllowance: boolean
  /** That allowance in USDC base units, where it was chosen. */
  readonly approve: bigint | undefined
}

/** @param request null while there is no order to plan */
export function useTicketPlan(
  ticket: Pick<Ticket, 'side' | 'symbol' | 'payFrom' | 'allowed'>,
  request: OrderRequest | null,
  sponsored: boolean,
): TicketPlan {
  const alone = usePlan(request, { sponsored })
  const offersAllowance = alone.last !== null && isPaidByWallet(ticket) && wouldSaveRequests(alone.last)
  const approve =
    offersAllowance && ticket.allowed === 'later' && request?.usdc !== undefined
      ? allowanceFor(request.usdc)
      : undefined
  const later = usePlan(approve === undefined ? null : request, { approve })
  return { prompts: (approve === undefined ? alone : later).prompts, offersAllowance, approve }
}

interface Plan {
  readonly prompts: readonly Prompt[] | null
  /** The same, or until it is known the plan of the order as it was before the last key was pressed. */
  readonly last: readonly Prompt[] | null
}

function usePlan(request: OrderRequest | null, options: Pick<PlanOptions, 'sponsored' | 'approve'>): Plan {
  const { session, key, funds } = useAccount()
  const [plan, setPlan] = useState<{ of: string; prompts: readonly Prompt[] } | null>(null)
  // All that a plan depends on: the request is another object at each turn.
  const { side, symbol, usdc, shares, payFrom } = request ?? {}
  const place = [options.sponsored, options.approve, key.value?.publicKey, funds.value?.allowance]
  const of = request === null ? null : [...place, side, symbol, usdc, shares, payFrom].join()
  useEffect(() => {
    if (request === null || of === null) {
      setPlan(null)
      return undefined
    }
    const over = new AbortController()
    session.client.plan(request, { ...options, signal: over.signal }).then(
      (prompts) => setPlan({ of, prompts }),
      // The order itself would fail in the same way, and say why.
      () => undefined,
    )
    return () => over.abort()
  }, [of])
  const last = plan?.prompts ?? null
  return { prompts: plan?.of === of ? last : null, last }
}
