// Cash that the list pays is the broker's: the owner's key alone makes none.
import { type Broker, bookingsOf, dayAt, unbornePayments } from '../broker/index.js'
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

  /**
   * A portfolio is opened only where the books bear every payment of the list, whoever holds the symbol: a wait of its holders alone would
   * tell who they are.
   * @throws PostponedError `actions-unknown`; BrokerError
   */
  return async function assertBorne({ chain, broker, clock }: Deps, block: BlockPoint): Promise<void> {
    const actions = await chain.actions(block)
    if (borne.has(actions) || !actions.some(({ kind }) => kind === 'PAYMENT')) return
    const first = dayAt(new Date((await chain.deployedAt()) * 1_000))
    const after = new Date(Date.parse(first) - 1)
    const isBorne = async (read: Broker['getBookedEntries']) =>
      unbornePayments(actions, bookingsOf(await read({ after }))).length === 0
    // What is kept of the books may be older than the list.
    if (!(await isBorne(broker.getBookedEntries)) && !(await isBorne(broker.getBookedEntriesNow)))
      throw new PostponedError('actions-unknown', clock.seconds() + UNBORNE_AGAIN_S)
    borne.add(actions)
  }
}
