import type { SharedBroker } from '../broker/index.js'
import type { Rpc } from '../chain/rpc.js'
import type { ContractAddresses } from '../protocol/api.js'
import type { FeeSchedule } from '../protocol/fees.js'
import type { Job, RunResult } from '../protocol/job.js'
import { createKeyedLock } from '../service/keyedLock.js'
import { createAuthorizer } from './authorizer.js'
import { createBorneCheck } from './borne.js'
import { createSharedChain } from './chainState.js'
import { type Clock, createRunClock } from './clock.js'
import { codeOf, PostponedError } from './failures.js'
import type { Depth } from './heads.js'
import type { EnclaveKeys } from './keys/keys.js'
import { runOrder } from './order/orderRun.js'
import { runResolution } from './order/resolution.js'
import type { Ownership } from './ownership.js'
import { runPolicy } from './policy.js'
import { reconcile } from './reconcile.js'
import type { Relay } from './relay.js'
import { type Batching, guardBroker, type Limits, type Run, type Timings } from './run.js'
import { createPolicyStore, createPortfolioStore, type PortfolioStore } from './stores.js'
import { createTurns } from './turns.js'

export interface EnclaveDeps {
  rpc: Pick<Rpc, 'send'>
  /** A node of another operator, which must say the same about what decides money. */
  witness?: Pick<Rpc, 'send'> | undefined
  chainId: number
  addresses: ContractAddresses
  broker: SharedBroker
  relay: Relay
  clock: Clock
  keys: EnclaveKeys
  timings: Timings
  fees: FeeSchedule
  /** How far below the head lies what permits an order. */
  depth: Depth
  /** A head that is older is not acted on, in milliseconds. */
  maxHeadAgeMs: number
  limits: Limits
  batching: Batching
}

/**
 * The confidential program: one job in, one result out; many jobs at once. They share what they read of the chain. Nothing
 * that decides money is kept between two jobs.
 */
export interface Enclave {
  /**
   * Never throws for what a job can meet: that is the result `failed`.
   * @param report leaves a result that stands if the run dies after it
   */
  run(job: Job, report: (result: RunResult) => Promise<void>): Promise<RunResult>
}

export function createEnclave(deps: EnclaveDeps): Enclave {
  const { keys, relay, timings, fees, limits, batching } = deps
  const sharedChain = createSharedChain({ ...deps, pollMs: timings.confirmPollMs })
  const views = sharedChain.forRun()
  const shared = {
    accountLock: createKeyedLock(),
    turns: createTurns(deps.clock),
    portfolios: createPortfolioStore(views, keys),
    policies: createPolicyStore(views, keys),
  }
  const checkBorne = createBorneCheck()

  function runOf(job: Job, report: Run['report']): Run {
    const clock = createRunClock(deps.clock, job.stopAt)
    const chain = sharedChain.forRun()
    const broker = guardBroker(deps.broker, clock.check)
    const assertBorne: Run['assertBorne'] = (block, followed) =>
      checkBorne({ chain, broker, clock }, block, followed)
    const load: PortfolioStore['load'] = async (account, block) => {
      const stored = await shared.portfolios.load(account, block)
      await assertBorne(block, stored.followedBefore)
      return stored
    }
    return {
      ...shared,
      ...{ fees, limits, batching, timings },
      ...{ clock, chain, report, broker, assertBorne },
      portfolios: { ...shared.portfolios, load },
      authorizer: createAuthorizer({ chain, clock, relay, timings, keys }),
      open: keys.open,
      openedAt: positionOf(job),
    }
  }

  return {
    async run(job, report) {
      let reported: RunResult | undefined
      const keep = (result: RunResult) => {
        reported = result
        return report(result)
      }
      try {
        return await dispatch(runOf(job, keep), job)
      } catch (error) {
        // The reported result stands: the refund that a notice explains may yet take effect.
        const retry = error instanceof PostponedError ? { retryAt: error.until } : {}
        return { code: codeOf(error), ...retry, ...reported, outcome: 'failed' }
      }
    },
  }
}

/**
 * The same enclave, which begins nothing that counts fills while another deployment trades with the broker's account. Rulebooks, and
 * what the owner resolves by figures of his own, go on.
 */
export function ofOwnAccount(
  enclave: Enclave,
  ownership: Ownership,
  relay: Pick<Relay, 'assertReachable'>,
): Enclave {
  return {
    async run(job, report) {
      try {
        if (job.job === 'order' || job.job === 'reconcile') {
          await relay.assertReachable()
          await ownership.assert()
        }
      } catch (error) {
        return { code: codeOf(error), outcome: 'failed' }
      }
      return enclave.run(job, report)
    },
  }
}

function dispatch(run: Run, job: Job): Promise<RunResult> {
  if (job.job === 'policy') return runPolicy(run, job.envelope)
  if (job.job === 'resolve') return runResolution(run, job.envelope)
  return job.job === 'order' ? runOrder(run, job) : reconcile(run)
}

/** An order whose opening the server has not seen comes last. */
const LAST = 2n ** 96n

function positionOf(job: Job): bigint {
  const openedAt = job.job === 'order' ? job.openedAt : undefined
  return openedAt ? (BigInt(openedAt.block) << 32n) + BigInt(openedAt.logIndex) : LAST
}
