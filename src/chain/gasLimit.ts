/** Headroom for state that changes between estimate and block: a balance that is zero by then costs 17,100 more (EIP-2200). */
const GAS_LIMIT_PERCENT = 150n

/** The gas limit of a transaction of a person, by the node's estimate. */
export function gasLimitOf(estimate: bigint): bigint {
  return (estimate * GAS_LIMIT_PERCENT) / 100n
}
