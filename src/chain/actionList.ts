// The entries of `CorporateActions` as its views return them. Also runs in a browser.
import * as z from 'zod/mini'
import { type CorporateAction, corporateActionSchema } from '../protocol/corporateActions.js'
import { bytes32Schema, ZERO_BYTES32 } from '../protocol/hex.js'
import { bytes32ToName, nameToBytes32 } from '../protocol/identifiers.js'
import { ChainAnswerError } from './errors.js'

/** Entries of the list that one view returns. */
const ACTIONS_AT_ONCE = 500

/** The contract's enum, in its order. */
const KINDS = ['SPLIT', 'STOCK_DIVIDEND', 'ENTITLEMENT', 'PAYMENT', 'SYMBOL_CHANGE', 'REMOVAL'] as const
/** The fields besides `recordAt` and `symbol` that the contract leaves zero for other kinds. */
const FIELDS = {
  SPLIT: ['numerator', 'denominator'],
  STOCK_DIVIDEND: ['numerator', 'denominator'],
  ENTITLEMENT: [],
  PAYMENT: ['numerator', 'denominator', 'entitlement'],
  SYMBOL_CHANGE: ['successor'],
  REMOVAL: [],
} as const

const smallValue = z.pipe(
  z.bigint().check(z.minimum(0n), z.maximum(BigInt(Number.MAX_SAFE_INTEGER))),
  z.transform(Number),
)
/** A kind that this program does not know may do anything to a holding: the list is unreadable then. */
const kindValue = z.pipe(
  z.bigint(),
  z.transform((input, { issues }) => {
    const kind = KINDS[Number(input)]
    if (kind !== undefined) return kind
    issues.push({ code: 'custom', input, message: 'an unknown kind of corporate action' })
    return z.NEVER
  }),
)
const decimalValue = z.pipe(z.bigint().check(z.minimum(0n)), z.transform(String))
const nameValue = z.pipe(bytes32Schema, z.transform(bytes32ToName))

/** Without its index. */
export const listedActionSchema = z.pipe(
  z.tuple([kindValue, smallValue, decimalValue, decimalValue, smallValue, nameValue, nameValue]),
  z.transform(([kind, recordAt, numerator, denominator, entitlement, symbol, successor]) => ({
    ...{ kind, recordAt, symbol },
    ...{ numerator, denominator, entitlement, successor },
  })),
)

type ListedAction = z.output<typeof listedActionSchema>

/** Drops what the kind does not name. @throws ZodError */
export function actionOf(
  { kind, recordAt, symbol, ...fields }: ListedAction,
  index: number,
): CorporateAction {
  const own = FIELDS[kind].map((field) => [field, fields[field]])
  return corporateActionSchema.parse({ kind, index, recordAt, symbol, ...Object.fromEntries(own) })
}

/** The views of the list at one block. */
interface ListViews {
  count(): Promise<number>
  /** The entries from one index to before another, as `listedActionSchema` reads them. */
  list(from: number, to: number): Promise<readonly ListedAction[]>
}

/** The whole list. @throws ZodError; ChainAnswerError for a node that lists fewer than it counts */
export async function readActions({ count, list }: ListViews): Promise<CorporateAction[]> {
  const length = await count()
  const actions: CorporateAction[] = []
  while (actions.length < length) {
    const from = actions.length
    const listed = await list(from, Math.min(from + ACTIONS_AT_ONCE, length))
    if (listed.length === 0) throw new ChainAnswerError('a node lists fewer corporate actions than it counts')
    actions.push(...listed.map((action, at) => actionOf(action, from + at)))
  }
  return actions
}

/** A corporate action that is not in the list yet. What its kind has no use for is zero, or empty. */
export interface ProposedAction {
  readonly kind: CorporateAction['kind']
  readonly symbol: string
  /** Unix seconds: holdings count as they were at this moment. */
  readonly recordAt: number
  /**
   * A split or a stock dividend makes `numerator` shares of `denominator`; a payment is `numerator / denominator` USDC base units a
   * share, net of withholding.
   */
  readonly numerator: bigint
  readonly denominator: bigint
  /** The place of a payment's entitlement in the list, from 0. */
  readonly entitlement: number
  /** The next symbol, where that changes. */
  readonly successor: string
}

/** The fields of an action's struct, as the contract takes them. */
export function actionStruct(action: ProposedAction): readonly unknown[] {
  const { kind, recordAt, numerator, denominator, entitlement, symbol, successor } = action
  const next = successor === '' ? ZERO_BYTES32 : nameToBytes32(successor)
  return [KINDS.indexOf(kind), recordAt, numerator, denominator, entitlement, nameToBytes32(symbol), next]
}
