import { targetOf } from '../chain/authorizationCall.js'
import {
  type Authorization,
  type AuthorizationDomain,
  authorizationDigest,
} from '../protocol/authorization.js'
import type { ChainState } from './chainState.js'
import type { RunClock } from './clock.js'
import { codeOf, failureOf, PostponedError, RunFailure } from './failures.js'
import type { Look } from './heads.js'
import type { EnclaveKeys } from './keys/keys.js'
import type { Relay } from './relay.js'

/** The most times that the relay may give no usable answer about one authorization. */
const MAX_SILENCES = 3

/** Signs the enclave's decisions and waits until they have taken effect. */
export function createAuthorizer(deps: {
  chain: ChainState
  clock: RunClock
  relay: Relay
  keys: Pick<EnclaveKeys, 'sign'>
  timings: { confirmPollMs: number; relayAgainMs: number }
}) {
  const { chain, clock, relay, keys, timings } = deps
  /** Whether the digest is used within `relayAgainMs`. A node that does not answer says nothing about it, and is asked again. */
  async function confirmed(isUsed: (looking: Promise<Look>) => Promise<boolean>): Promise<boolean> {
    const until = clock.now() + timings.relayAgainMs
    for (let looking = chain.look(); ; looking = chain.lookLater()) {
      try {
        if (await isUsed(looking)) return true
      } catch (error) {
        if (codeOf(error) !== 'chain-unavailable') throw error
      }
      if (clock.now() >= until) return false
      clock.check()
    }
  }

  return {
    /**
     * Stands before the first call of an attempt to the broker: without the relay nothing that the broker says could take effect.
     * @throws RunFailure `relay-unavailable`, `relay-refused`, `out-of-time`
     */
    async assertRelay(): Promise<void> {
      clock.check()
      await relay.assertReachable()
    },
    /**
     * Returns once the chain has taken the authorization: `usedDigest` on the enclave's own node, not the relay's word.
     * @throws PostponedError while the platform is paused or the relay has no gas for it; ConflictError when it was computed
     *   from a state that is gone; RunFailure for any other refusal, or when nothing is known by `stopAt` (it may still take effect)
     */
    async submit(authorization: Authorization): Promise<void> {
      const { primaryType } = authorization
      const domain: AuthorizationDomain = {
        chainId: chain.chainId,
        verifyingContract: targetOf(primaryType, chain.addresses),
      }
      const digest = authorizationDigest(authorization, domain)
      const isUsed = async (looking: Promise<Look>) => chain.isUsed(primaryType, digest, (await looking).head)
      const signed = keys.sign(authorization, domain)
      for (let silences = 0; ; ) {
        clock.check()
        const answer = await relay.post(signed)
        if (answer.kind === 'taken') {
          if (await confirmed(isUsed)) return
          continue
        }
        // Any refusal may be of a repetition: the answer to the first request may have been lost.
        if (await isUsed(chain.look())) return
        if (answer.kind === 'reverted') throw failureOf(answer.revert)
        if (answer.kind === 'postponed') {
          throw new PostponedError(answer.code, clock.seconds() + answer.seconds)
        }
        if (answer.kind === 'refused') throw new RunFailure('relay-refused')
        if (++silences === MAX_SILENCES) throw new RunFailure('relay-unavailable')
        await clock.sleep(timings.confirmPollMs)
      }
    },
  }
}

export type Authorizer = ReturnType<typeof createAuthorizer>
