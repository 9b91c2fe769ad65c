// Whether this deployment is the only one that trades with the broker's account. Two would each take the other's fill for its own,
// where an order has the same id and size on both. The ids follow from the orderIds, so they cannot say whose an order is; the escrow can.
import type { Broker, NamedOrder } from '../broker/index.js'
import type { Logger } from '../service/logger.js'
import { describeError } from '../service/logger.js'
import { takersOf } from './batches.js'
import type { ChainState } from './chainState.js'
import type { Clock } from './clock.js'
import { RunFailure } from './failures.js'
import { CLOCK_SKEW_S, REORGANIZATION_S } from './order/atBroker.js'

interface OwnershipDeps {
  readonly broker: Pick<Broker, 'getNewestOrders'>
  readonly chain: Pick<ChainState, 'look' | 'lookLater' | 'escrow' | 'deployedAt'>
  readonly clock: Pick<Clock, 'now'>
}

/** What an operator reads in the doctor's report. */
export const SHARED =
  'the account has orders of the last hour that the escrow does not know: another deployment trades with it. Stop that one, or give each an account of its own'

const LIST_INTERVAL_MS = 60_000
/** When the last list is older, a run waits for the next one, and needs it. */
const BELIEVED_MS = 300_000
/** A list that failed is asked for again after so long: until then runs fail as it did. */
const LIST_RETRY_MS = 5_000
const SKEW_MS = CLOCK_SKEW_S * 1_000
/** An older order is no run's: a write-ahead now would be too young for it. */
const COUNTED_MS = REORGANIZATION_S * 1_000 + SKEW_MS

export function createOwnership({ logger, ...deps }: OwnershipDeps & { readonly logger: Logger }) {
  const { clock } = deps
  const foreign = new Map<string, NamedOrder>()
  let listing: Promise<void> | undefined
  let failure: { readonly error: unknown } | undefined
  let [askedAt, listedAt] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]

  async function list(): Promise<void> {
    const now = clock.now()
    const found = await findForeign(deps, Math.max(listedAt, now - COUNTED_MS) - SKEW_MS)
    listedAt = now
    for (const [id, order] of found) foreign.set(id, order)
    if (found.size > 0) logger.error('broker account shared', { count: foreign.size })
  }

  /** One list at a time. */
  function listed(): Promise<void> {
    askedAt = clock.now()
    listing ??= list()
      .then(() => {
        failure = undefined
      })
      .catch((error: unknown) => {
        failure = { error }
        logger.warn('broker account not checked', describeError(error))
        throw error
      })
      .finally(() => {
        listing = undefined
      })
    return listing
  }

  /** Forgets orders that are too old to be a run's, and those that the escrow knows again after a reorganization. */
  async function forget(): Promise<void> {
    const since = clock.now() - COUNTED_MS - SKEW_MS
    for (const [id, { createdAt }] of foreign) if (createdAt.getTime() < since) foreign.delete(id)
    if (foreign.size === 0) return
    const asked = [...foreign.keys()]
    const unknown = await unknownOf(deps, asked, deps.chain.look())
    for (const id of asked) if (!unknown.has(id)) foreign.delete(id)
  }

  return {
    /**
     * Lists the account's newest orders once a minute at most, one request, and in the background unless the last list is old. Without a
     * list that is young enough nobody knows whose the account is, so nothing is begun.
     * @throws RunFailure `broker-shared` while the broker has orders of the last hour that the escrow does not know; BrokerError,
     *   ChainUnavailableError, ChainAnswerError where the last list is old and no other can be read
     */
    async assert(): Promise<void> {
      const now = clock.now()
      if (now - listedAt > BELIEVED_MS) {
        if (failure !== undefined && now - askedAt < LIST_RETRY_MS) throw failure.error
        await listed()
      } else if (now - askedAt >= LIST_INTERVAL_MS) listed().catch(() => undefined)
      await forget()
      if (foreign.size > 0) throw new RunFailure('broker-shared')
    },
  }
}

export type Ownership = ReturnType<typeof createOwnership>

/**
 * The account's newest orders after a time, with ids of the platform's form, that the escrow knows at no account, by id. An order is
 * placed once its escrow is open, so the chain is read after the list, and again for a node that is behind. Orders of an earlier
 * deployment are older than the escrow, and a person's have ids of another form.
 * @param since Unix milliseconds
 * @throws BrokerError, ChainUnavailableError, ChainAnswerError
 */
async function findForeign(deps: OwnershipDeps, since: number): Promise<ReadonlyMap<string, NamedOrder>> {
  const { broker, chain } = deps
  const deployedAt = (await chain.deployedAt()) * 1_000
  const orders = await broker.getNewestOrders({ after: new Date(Math.max(since, deployedAt - SKEW_MS)) })
  const ids = orders.map(({ clientOrderId }) => clientOrderId)
  const once = await unknownOf(deps, ids, chain.look())
  const unknown = once.size === 0 ? once : await unknownOf(deps, [...once], chain.lookLater())
  return new Map(
    orders.flatMap((order) => (unknown.has(order.clientOrderId) ? [[order.clientOrderId, order]] : [])),
  )
}

/** How many orders of the last hour the escrow does not know. @throws BrokerError, ChainUnavailableError, ChainAnswerError */
export async function countForeign(deps: OwnershipDeps): Promise<number> {
  return (await findForeign(deps, deps.clock.now() - COUNTED_MS - SKEW_MS)).size
}

async function unknownOf(
  { chain }: OwnershipDeps,
  ids: readonly string[],
  looking: ReturnType<ChainState['look']>,
): Promise<ReadonlySet<string>> {
  const { head } = await looking
  const takers = await takersOf(chain, ids, head)
  return new Set([...takers].flatMap(([id, account]) => (account === null ? [id] : [])))
}
