// What the list gives or takes is the broker's doing: the owner's key alone makes no cash and no shares.
import { type Broker, everBookedOf, needsBooking, unborneActions } from '../broker/index.js'
import type { CorporateAction } from '../protocol/corporateActions.js'
import { PostponedError } from './failures.js'
import { booksOf } from './halts.js'
import type { BlockPoint } from './heads.js'
import type { Run } from './run.js'

/** The pause between two looks at the books for an action that they do not bear. */
const UNBORNE_AGAIN_S = 600

type Deps = Pick<Run, 'chain' | 'clock'> & {
  readonly broker: Pick<Run['broker'], 'getBookedEntries' | 'getBookedEntriesNow'>
}

/** Asks the books once for each list that a process sees. */
export function createBorneCheck() {
  const borneLists = new WeakSet<readonly CorporateAction[]>()
  /** Actions that the books have borne, or that a portfolio has followed already. */
  const borne = new Set<string>()

  /**
   * A portfolio is opened only where the books bear every action of the list, whoever holds the symbol: a wait of its holders alone would
   * tell who they are. An action that any portfolio was written with was borne then: books of today may be another account's, or end after it.
   * @param followed how many actions a stored portfolio has followed
   * @throws PostponedError `actions-unknown`; BrokerError
   */
  return async function assertBorne(
    { chain, broker, clock }: Deps,
    block: BlockPoint,
    followed = 0,
  ): Promise<void> {
    const actions = await chain.actions(block)
    if (borneLists.has(actions)) return
    keep(actions.slice(0, followed))
    const isOpen = (action: CorporateAction) => needsBooking(action) && !borne.has(nameOf(action, actions))
    const { after } = await booksOf(chain)
    const isBorne = async (read: Broker['getBookedEntries']) =>
      !unborneActions(actions, everBookedOf(await read({ after }))).some(isOpen)
    // What is kept of the books may be older than the list.
    if (
      actions.some(isOpen) &&
      !(await isBorne(broker.getBookedEntries)) &&
      !(await isBorne(broker.getBookedEntriesNow))
    )
      throw new PostponedError('actions-unknown', clock.seconds() + UNBORNE_AGAIN_S)
    keep(actions)
    borneLists.add(actions)

    function keep(some: readonly CorporateAction[]): void {
      for (const action of some) borne.add(nameOf(action, actions))
    }
  }
}

/** The same action only: a reorganization may put another one in its place. */
function nameOf(action: CorporateAction, actions: readonly CorporateAction[]): string {
  const claim = action.kind === 'PAYMENT' ? actions[action.entitlement] : undefined
  return [action, claim].flatMap((each) => Object.values(each ?? {})).join()
}
