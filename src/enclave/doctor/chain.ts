import { createRpc } from '../../chain/rpc.js'
import { createChainState } from '../chainState.js'
import { systemClock } from '../clock.js'
import { addressesOf } from '../commonConfig.js'
import type { CommonConfig } from '../commonSettings.js'

/** The chain at its head, by the enclave's own nodes without the witness: nothing is decided by it. */
export function chainOf(config: CommonConfig) {
  const { CHAIN_ID: chainId, RPC_URL: urls, RPC_TIMEOUT: timeoutMs } = config
  const rpc = createRpc({ chainId, urls, timeoutMs })
  const chain = createChainState({
    ...{ rpc, chainId, addresses: addressesOf(config), depth: 0, clock: systemClock },
    ...{ maxHeadAgeMs: config.CHAIN_MAX_HEAD_AGE, pollMs: config.CONFIRM_POLL_INTERVAL },
  })
  return { rpc, chain }
}
