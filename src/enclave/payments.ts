// Cash that the list pays is the broker's: the owner's key alone makes none.
import { type Broker, dayAt, everBookedOf, unbornePayments } from '../broker/index.js'
import type { CorporateAction } from '../protocol/corporateActions.js'
import { PostponedError } from './failures.js'
import type { BlockPoint } from './heads.js'
import type { Run } from './run.js'

/** The pause between two looks at the books for a payment that they do not bear. */
const UNBORNE_AGAIN_S = 600

type Deps = Pick<Run, 'chain' | 'clock'> & {
  readonly broker: Pick<Run['broker'], 'getBookedEntries' | 'getBookedEntriesNow'>
}

/** Asks the books once for each list that a process sees. */
export function createPaymentCheck() {
  const borne = new WeakSet<readonly CorporateAction[]>()
  /** Payments that a portfolio has followed already. */
  const followed = new Set<string>()

  /**
   * A portfolio is opened only where the books bear every payment of the list, whoever holds the symbol: a wait of its holders alone would
   * tell who they are. A payment that any portfolio was written with was borne then: books of today may be another account's, or end after it.
   * @param before how many actions the stored portfolio has followed
   * @throws PostponedError `actions-unknown`; BrokerError
   */
  return async function assertBorne(
    { chain, broker, clock }: Deps,
    block: BlockPoint,
    before: number,
  ): Promise<void> {
    const actions = await chain.actions(block)
    if (borne.has(actions)) return
    for (const action of actions.slice(0, before)) followed.add(nameOf(action, actions))
    const isOpen = (action: CorporateAction) => !followed.has(nameOf(action, actions))
    const first = dayAt(new Date((await chain.deployedAt()) * 1_000))
    const after = new Date(Date.parse(first) - 1)
    const isBorne = async (read: Broker['getBookedEntries']) =>
      !unbornePayments(actions, everBookedOf(await read({ after }))).some(isOpen)
    const asks = actions.some((action) => action.kind === 'PAYMENT' && isOpen(action))
    // What is kept of the books may be older than the list.
    if (asks && !(await isBorne(broker.getBookedEntries)) && !(await isBorne(broker.getBookedEntriesNow)))
      throw new PostponedError('actions-unknown', clock.seconds() + UNBORNE_AGAIN_S)
    borne.add(actions)
  }
}

/** The same action only: a reorganization may put another one in its place. */
function nameOf(action: CorporateAction, actions: readonly CorporateAction[]): string {
  const claim = action.kind === 'PAYMENT' ? actions[action.entitlement] : undefined
  return [action, claim].flatMap((each) => Object.values(each ?? {})).join()
}
