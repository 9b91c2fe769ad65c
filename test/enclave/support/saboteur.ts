// Lets the n-th call that a run makes to the outside go wrong.
import { BrokerError, type SharedBroker } from '../../../src/broker/index.js'
import { ChainUnavailableError } from '../../../src/chain/errors.js'
import type { EnclaveDeps } from '../../../src/enclave/enclave.js'
import { RunFailure } from '../../../src/enclave/failures.js'
import type { RelayAnswer } from '../../../src/enclave/relay.js'
import { tappedRpc } from '../../support/tappedRpc.js'

/**
 * - `crash`: the process dies before the call; no later call takes effect
 * - `unanswered`: the call takes effect and its answer is lost
 * - `unsent`: the call does not take effect
 * - `refused`: the broker answers with a definite refusal; others as `unsent`
 */
export type Mishap = 'crash' | 'unanswered' | 'unsent' | 'refused'

/** The process is dead. Code that catches it can do nothing any more: every later call throws it again. */
class Crash extends Error {}

/**
 * Wraps everything that a run can reach. Each HTTP request to a node, each call to broker or relay and each report
 * counts as one call.
 * @param at number of the call that goes wrong, from 0; none when it is never reached
 * @param before runs before each call, with its number; `after` when it is over, before the run hears of its answer
 */
export function sabotage(
  deps: EnclaveDeps,
  at: number,
  mishap: Mishap,
  before: (call: number) => Promise<void> = async () => undefined,
  after: (call: number) => Promise<void> = async () => undefined,
) {
  const calls: string[] = []
  let dead = false

  async function step<T>(name: string, call: () => Promise<T>, failed: () => T): Promise<T> {
    if (dead) throw new Crash()
    const index = calls.push(name) - 1
    await before(index)
    if (index !== at) return call().finally(() => after(index))
    if (mishap === 'crash') {
      dead = true
      throw new Crash()
    }
    if (mishap === 'unanswered') await call()
    return failed()
  }

  return {
    /** The calls so far, by name. */
    calls,
    report: () =>
      step(
        'report',
        async () => undefined,
        () => undefined,
      ),
    deps: {
      ...deps,
      rpc: tappedRpc(deps.rpc, (_calls, send) =>
        step('chain', send, () => {
          throw new ChainUnavailableError(1)
        }),
      ),
      broker: sabotagedBroker(deps.broker, mishap, step),
      relay: {
        post: (authorization) =>
          step<RelayAnswer>(
            `relay ${authorization.primaryType}`,
            () => deps.relay.post(authorization),
            () => ({ kind: 'unavailable' }),
          ),
        assertReachable: () =>
          step('relay assertReachable', deps.relay.assertReachable, () => {
            throw new RunFailure('relay-unavailable')
          }),
      },
      clock: {
        now: deps.clock.now,
        async sleep(ms) {
          if (dead) throw new Crash()
          await deps.clock.sleep(ms)
        },
      },
    } satisfies EnclaveDeps,
  }
}

type Step = <T>(name: string, call: () => Promise<T>, failed: () => T) => Promise<T>

function sabotagedBroker(broker: SharedBroker, mishap: Mishap, step: Step): SharedBroker {
  const wrapped =
    <A extends unknown[], R>(name: string, changes: boolean, call: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> =>
      step(
        `broker ${name}`,
        () => call(...args),
        () => {
          throw new BrokerError(kindOf(mishap, changes), { route: name, status: 403 })
        },
      )
  return {
    ...broker,
    async reserve(ask) {
      const placement = await broker.reserve(ask)
      return (
        placement && {
          ...placement,
          send: wrapped('placeOrder', true, placement.send),
        }
      )
    },
    follow: wrapped('follow', false, broker.follow),
    getClock: wrapped('getClock', false, broker.getClock),
    getSnapshots: wrapped('getSnapshots', false, broker.getSnapshots),
    getAsset: wrapped('getAsset', false, broker.getAsset),
    getOrders: wrapped('getOrders', false, broker.getOrders),
    getOrderByClientOrderId: wrapped('getOrderByClientOrderId', false, broker.getOrderByClientOrderId),
    readOrder: wrapped('readOrder', false, broker.readOrder),
    getLiveOrders: wrapped('getLiveOrders', false, broker.getLiveOrders),
    cancelOrder: wrapped('cancelOrder', true, broker.cancelOrder),
    getPositions: wrapped('getPositions', false, broker.getPositions),
    getAccount: wrapped('getAccount', false, broker.getAccount),
    getAnnouncements: wrapped('getAnnouncements', false, broker.getAnnouncements),
    getBookedEntries: wrapped('getBookedEntries', false, broker.getBookedEntries),
    getActivities: wrapped('getActivities', false, broker.getActivities),
  }
}

function kindOf(mishap: Mishap, changes: boolean) {
  if (mishap === 'refused') return 'rejected' as const
  return changes && mishap === 'unanswered' ? ('ambiguous' as const) : ('unavailable' as const)
}
