import { targetOf } from '../chain/authorizationCall.js'
import {
  type Authorization,
  type AuthorizationDomain,
  authorizationDigest,
} from '../protocol/authorization.js'
import type { Hex } from '../protocol/hex.js'
import type { ChainState } from './chainState.js'
import type { RunClock } from './clock.js'
import { codeOf, failureOf, PostponedError, RunFailure } from './failures.js'
import type { Look } from './heads.js'
import type { EnclaveKeys } from './keys.js'
import type { Relay } from './relay.js'

type Digest = Pick<Authorization, 'primaryType'> & { readonly digest: Hex }

/** The most times that the relay may give no usable answer about one authorization. */
const MAX_SILENCES = 3

/** A node that does not answer says nothing about the digest. */
function unlessUnanswered(error: unknown): false {
  if (codeOf(error) === 'chain-unavailable') return false
  throw error
}

/** Signs the enclave's decisions and waits until they have taken effect. */
export function createAuthorizer(deps: {
  chain: ChainState
  clock: RunClock
  relay: Relay
  keys: Pick<EnclaveKeys, 'sign'>
  timings: { confirmPollMs: number; relayAgainMs: number }
}) {
  const { chain, clock, relay, keys, timings } = deps
  async function isUsed({ primaryType, digest }: Digest, looking: Promise<Look>): Promise<boolean> {
    return chain.isUsed(primaryType, digest, (await looking).head)
  }

  /** Whether the digest is used within `relayAgainMs`; a node that does not answer is asked again. */
  async function confirmed(digest: Digest): Promise<boolean> {
    const until = clock.now() + timings.relayAgainMs
    for (let looking = chain.look(); ; looking = chain.lookLater()) {
      if (await isUsed(digest, looking).catch(unlessUnanswered)) return true
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
     *   from a state that is gone; RevertedError for any other refusal;
     *   RunFailure when nothing is known by `stopAt` (it may still take effect)
     */
    async submit(authorization: Authorization): Promise<void> {
      const { primaryType } = authorization
      const domain: AuthorizationDomain = {
        chainId: chain.chainId,
        verifyingContract: targetOf(primaryType, chain.addresses),
      }
      const digest = authorizationDigest(authorization, domain)
      const signed = keys.sign(authorization, domain)
      for (let silences = 0; ; ) {
        clock.check()
        const answer = await relay.post(signed)
        if (answer.kind === 'taken') {
          if (await confirmed({ primaryType, digest })) return
          continue
        }
        // Any refusal may be of a repetition: the answer to the first request may have been lost.
        if (await isUsed({ primaryType, digest }, chain.look())) return
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
