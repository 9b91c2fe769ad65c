import { createChainState } from '../chainState.js'
import type { CommonConfig } from '../commonSettings.js'
import { chainOptionsOf } from '../program.js'

/**
 * The chain at its head. What is found can leave an attested enclave, such as an overdue order's entry: so where there is a witness, it
 * has to say the same.
 */
export function chainOf(config: CommonConfig) {
  const options = { ...chainOptionsOf(config), depth: 0 }
  const chain = createChainState({ ...options, pollMs: config.CONFIRM_POLL_INTERVAL })
  return { rpc: options.rpc, chain }
}
