// Enters corporate actions into the public list, as the platform's owner does.
import { ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import type { TestChain } from './chain.js'

/** The contract's enum, in its order. */
const KINDS = ['SPLIT', 'STOCK_DIVIDEND', 'ENTITLEMENT', 'PAYMENT', 'SYMBOL_CHANGE', 'REMOVAL'] as const

export interface Wished {
  readonly kind: (typeof KINDS)[number]
  readonly symbol: string
  readonly recordAt: number
  readonly ratio?: readonly [numerator: bigint, denominator: bigint]
  readonly entitlement?: number
  readonly successor?: string
}

/** Proposes an action, and returns it as the contract takes it. */
export async function propose(chain: TestChain, wished: Wished): Promise<readonly unknown[]> {
  const { kind, symbol, recordAt, ratio = [0n, 0n], entitlement = 0, successor } = wished
  const names = [nameToBytes32(symbol), successor ? nameToBytes32(successor) : ZERO_BYTES32]
  const action = [KINDS.indexOf(kind), recordAt, ...ratio, entitlement, ...names]
  await chain.send('owner', 'actions', 'propose', action)
  return action
}

/** Proposes an action, and enacts it once its record moment is past. */
export async function enact(chain: TestChain, wished: Wished): Promise<void> {
  const action = await propose(chain, wished)
  await chain.mineAt(Math.max(wished.recordAt, await chain.now()) + 1)
  await chain.send('dave', 'actions', 'enact', action)
}
