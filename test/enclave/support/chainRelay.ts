// A relay for tests: it carries authorizations to the chain at once, as the real one does in the end.
import { isCallException } from 'ethers'
import * as z from 'zod'
import { encodeAuthorizationCall, targetOf } from '../../../src/chain/authorizationCall.js'
import { revertOf } from '../../../src/chain/reverts.js'
import { waitForReceipt } from '../../../src/chain/waitForReceipt.js'
import type { Relay, RelayAnswer } from '../../../src/enclave/relay.js'
import type { Revert } from '../../../src/protocol/api.js'
import { type SignedAuthorization, signedAuthorizationSchema } from '../../../src/protocol/authorization.js'
import type { TestChain } from '../../support/chain.js'

/** Treats the next request otherwise than by carrying it to the chain. */
type RelayFault =
  /** Nothing is wrong with this one. */
  | 'pass'
  /** Taken, and sent to the chain when `land()` is called. */
  | 'withhold'
  /** Taken and sent, but the answer is lost. */
  | 'lose-answer'
  /** Not taken, with this answer. */
  | RelayAnswer

export function createChainRelay(chain: TestChain) {
  const posted: SignedAuthorization[] = []
  const faults: RelayFault[] = []
  const withheld: SignedAuthorization[] = []
  return {
    /** Everything that was posted. */
    posted,
    /** Applies to the next requests, one each. */
    faults,
    assertReachable: async () => undefined,
    async post(sent: SignedAuthorization): Promise<RelayAnswer> {
      const authorization = signedAuthorizationSchema.parse(z.encode(signedAuthorizationSchema, sent))
      posted.push(authorization)
      const fault = faults.shift()
      if (typeof fault === 'object') return fault
      if (fault === 'withhold') {
        withheld.push(authorization)
        return { kind: 'taken' }
      }
      const revert = await carry(chain, authorization)
      if (fault === 'lose-answer') return { kind: 'unavailable' }
      return revert ? { kind: 'reverted', revert } : { kind: 'taken' }
    },
    /** Sends the withheld calls, and drops those that revert by now, as a real node does. */
    async land(): Promise<void> {
      for (const authorization of withheld.splice(0)) await carry(chain, authorization)
    },
  }
}

/** A relay with another `post`, made of its own. */
export function posting(relay: Relay, wrap: (post: Relay['post']) => Relay['post']): Relay {
  return { ...relay, post: wrap(relay.post) }
}

/** Enough for each of them. An estimate would fail where another one comes first. */
const GAS = '0xf42400'

/** The revert that a simulation shows, or null once it has taken effect. */
async function carry(chain: TestChain, authorization: SignedAuthorization): Promise<Revert | null> {
  const { provider, account, addresses } = chain
  const call = {
    from: account('relayer'),
    to: targetOf(authorization.primaryType, addresses),
    data: encodeAuthorizationCall(authorization),
  }
  try {
    await provider.send('eth_call', [call, 'latest'])
  } catch (error) {
    if (!(error instanceof Error) || !isCallException(error)) throw error
    return revertOf(error)
  }
  const hash: unknown = await provider.send('eth_sendTransaction', [{ ...call, gas: GAS }])
  const receipt = await waitForReceipt(provider, String(hash))
  // Another one came first in its block.
  return receipt?.status === 1 ? null : carry(chain, authorization)
}
