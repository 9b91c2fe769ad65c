import { createChainState } from '../../../src/enclave/chainState.js'
import { checkActions } from '../../../src/enclave/doctor/proposed.js'
import { brokerOf, ENCLAVE_ACCOUNT } from '../../support/brokerStandIn.js'
import { rpcOf } from '../../support/tappedRpc.js'
import type { World } from './world.js'

/** What the doctor says of corporate actions, a line each, without what is well. */
export async function actionFindings({ chain, clock, broker }: World): Promise<string> {
  const { addresses, anvil } = chain
  const rpc = rpcOf(chain)
  const state = createChainState({
    ...{ rpc, chainId: anvil.chainId, addresses, depth: 0, clock },
    maxHeadAgeMs: Number.MAX_SAFE_INTEGER,
  })
  const found = await checkActions(rpc, state, brokerOf(broker.url, ENCLAVE_ACCOUNT, 60_000))
  const others = found.filter(({ result }) => result !== 'ok')
  return others.map(({ result, text }) => `${result}: ${text}`).join('\n')
}
