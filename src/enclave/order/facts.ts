import { ZERO_BYTES32 } from '../../protocol/hex.js'
import { nameToBytes32 } from '../../protocol/identifiers.js'
import type { BlockPoint } from '../chainState.js'
import { RunFailure } from '../failures.js'
import type { Run } from '../run.js'
import type { ChainFacts } from './admission.js'
import { type OrderTerms, USDC } from './terms.js'

/** What admission asks of the chain, all of it at one block. The institution is the registry's, never the intent's. */
export async function readChainFacts(
  { chain, policies }: Run,
  { account, symbol }: OrderTerms,
  block: BlockPoint,
): Promise<ChainFacts> {
  const id = nameToBytes32(symbol)
  const [orgId, kyc, frozen, listed] = await Promise.all([
    chain.registry.orgOf(account, block.number),
    chain.token.isKyc(account, block.number),
    symbol === USDC ? false : chain.token.isFrozen(id, account, block.number),
    symbol === USDC ? false : chain.token.isListed(id, block.number),
  ])
  const member = orgId !== ZERO_BYTES32
  const policy = member ? (await policies.load(orgId, block.number)).policy : null
  return { blockTime: block.timestamp, member, policy, kyc, frozen, listed }
}

/**
 * The price that a sale's size is computed from: the higher of the bid and the last trade, as the higher it is,
 * the fewer shares are sold.
 * @throws RunFailure when the broker knows no last trade
 */
export async function readPrice({ broker }: Run, symbol: string): Promise<bigint> {
  const snapshot = (await broker.getSnapshots([symbol])).get(symbol)
  const last = snapshot?.last ?? null
  if (last === null) throw new RunFailure('broker-unavailable')
  const bid = snapshot?.bid ?? 0n
  return bid > last ? bid : last
}
