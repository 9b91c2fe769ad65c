import { checksum } from '../protocol/address.js'
import type { Hex } from '../protocol/hex.js'
import { type Policy, type Rules, rulesOf } from '../protocol/policy.js'
import { formatGrouped, USDC_DECIMALS } from '../protocol/units.js'
import type { CallOptions } from './http.js'
import { createSlices, type Slices } from './slices.js'

/** One difference between two rulebooks. */
export interface RulebookChange {
  /** `lifted`: allows more than before. `tightened`: allows less. `added`: the earlier rule is unknown. */
  readonly effect: 'added' | 'lifted' | 'tightened'
  /** The affected wallet; null for all of them, or for every member who is not listed. */
  readonly employee: Hex | null
  /** In plain words, to follow the wallet's name if there is one. */
  readonly text: string
}

/**
 * The differences between a rulebook and its predecessor in plain words, lifted rules first.
 * @param before null if none is in force or it is unknown: then every rule is `added`
 * @example const changes = await rulebookChanges(policy, { ...policy, allowWithdrawShares: false })
 */
export async function rulebookChanges(
  before: Policy | null,
  after: Policy,
  { signal }: CallOptions = {},
): Promise<readonly RulebookChange[]> {
  const slices = createSlices(signal)
  await slices.next()
  const [old, next] = [await rulesByWallet(before, slices), await rulesByWallet(after, slices)]
  await slices.next()
  const wallets = [...new Set([...old.keys(), ...next.keys()])].sort()
  const [oldDefault, nextDefault] = [defaultOf(before), defaultOf(after)]
  const ofWallets: RulebookChange[] = []
  for (const wallet of wallets) {
    if (slices.isOver()) await slices.next()
    const [was, is] = [old.get(wallet) ?? oldDefault, next.get(wallet) ?? nextDefault]
    const found = rulesChanges(was, is, before === null)
    for (const change of found) ofWallets.push({ ...change, employee: checksum(wallet) })
  }
  await slices.next()
  const changes = [
    ...ofWallets,
    ...defaultChanges(oldDefault, nextDefault, before === null).map((change) => ({
      ...change,
      employee: null,
    })),
    ...commonChanges(before, after).map((change) => ({ ...change, employee: null })),
  ]
  const ordered = EFFECTS.flatMap((effect) => changes.filter((change) => change.effect === effect))
  await slices.next()
  return ordered
}

/** Changes of one effect and in the same words. */
export interface AlikeChanges extends Omit<RulebookChange, 'employee'> {
  /** Everyone affected; empty for a change that is nobody's own. */
  readonly employees: readonly Hex[]
}

/**
 * The changes with those of the same words as one, in their order: so a group's new rules stand once, with its members.
 * @example for (const { text } of alikeChanges(await rulebookChanges(null, policy))) console.log(text)
 */
export function alikeChanges(changes: readonly RulebookChange[]): readonly AlikeChanges[] {
  const found = new Map<string, { effect: RulebookChange['effect']; text: string; employees: Hex[] }>()
  for (const { effect, employee, text } of changes) {
    const name = `${effect} ${text}`
    const alike = found.get(name) ?? { effect, text, employees: [] }
    found.set(name, alike)
    if (employee !== null) alike.employees.push(employee)
  }
  return [...found.values()]
}

type Change = Omit<RulebookChange, 'employee'>

const EFFECTS = ['lifted', 'tightened', 'added'] as const

async function rulesByWallet(policy: Policy | null, slices: Slices): Promise<Map<string, Rules>> {
  const found = new Map<string, Rules>()
  for (const [wallet, rule] of Object.entries(policy?.employees ?? {})) {
    if (slices.isOver()) await slices.next()
    const rules = policy && rulesOf(policy, rule)
    if (rules) found.set(wallet.toLowerCase(), rules)
  }
  return found
}

function defaultOf(policy: Policy | null): Rules | undefined {
  return policy?.default && rulesOf(policy, policy.default)
}

function rulesChanges(before: Rules | undefined, after: Rules | undefined, isFirst: boolean): Change[] {
  if (before === undefined) {
    if (after === undefined) return []
    if (isFirst) return [{ effect: 'added', text: inWords(after) }]
    return mayTrade(after) ? [{ effect: 'lifted', text: inWords(after) }] : []
  }
  if (after === undefined) return mayTrade(before) ? [UNLISTED] : []
  return [
    ...flagChange(before.canBuy, after.canBuy, 'buy'),
    ...flagChange(before.canSell, after.canSell, 'sell'),
    ...symbolChange('lifted', without(before.restricted, after.restricted)),
    ...symbolChange('tightened', without(after.restricted, before.restricted)),
  ]
}

function defaultChanges(before: Rules | undefined, after: Rules | undefined, isFirst: boolean): Change[] {
  const ended: Change[] =
    before && mayTrade(before) ? [{ effect: 'tightened', text: 'may neither buy nor sell' }] : []
  const changes = after ? rulesChanges(before, after, isFirst) : ended
  return changes.map(({ effect, text }) => ({ effect, text: `a member who is not listed ${text}` }))
}

const UNLISTED: Change = {
  effect: 'tightened',
  text: 'is no longer listed, so it may neither buy nor sell',
}

/** A listed employee without rights has the same rights as an unlisted one. */
const mayTrade = ({ canBuy, canSell }: Rules): boolean => canBuy || canSell

function flagChange(before: boolean, after: boolean, deed: string): Change[] {
  if (before === after) return []
  return [
    after
      ? { effect: 'lifted', text: `may now ${deed}` }
      : { effect: 'tightened', text: `may no longer ${deed}` },
  ]
}

function symbolChange(effect: 'lifted' | 'tightened', symbols: readonly string[]): Change[] {
  if (symbols.length === 0) return []
  const text =
    effect === 'lifted' ? `may now trade ${listed(symbols)}` : `may no longer trade ${listed(symbols)}`
  return [{ effect, text }]
}

function commonChanges(before: Policy | null, after: Policy): Change[] {
  const most = `an order may be at most ${usdc(after.maxOrderNotional)}`
  const shares = `shares may ${after.allowWithdrawShares ? '' : 'not '}be withdrawn`
  if (before === null) return [most, shares].map((text) => ({ effect: 'added', text }))
  const changes: Change[] = []
  if (after.maxOrderNotional !== before.maxOrderNotional) {
    const effect = after.maxOrderNotional > before.maxOrderNotional ? 'lifted' : 'tightened'
    changes.push({ effect, text: `${most} (was ${usdc(before.maxOrderNotional)})` })
  }
  if (after.allowWithdrawShares !== before.allowWithdrawShares) {
    changes.push({ effect: after.allowWithdrawShares ? 'lifted' : 'tightened', text: shares })
  }
  return changes
}

/** One employee's rights in plain words. */
function inWords({ canBuy, canSell, restricted }: Rules): string {
  const symbols = restricted.length === 0 ? 'every symbol' : `every symbol but ${listed(restricted)}`
  if (canBuy && canSell) return `may buy and sell ${symbols}`
  if (canBuy) return `may buy ${symbols}, and sell none`
  return canSell ? `may sell ${symbols}, and buy none` : 'may neither buy nor sell'
}

function without(symbols: readonly string[], others: readonly string[]): string[] {
  return symbols.filter((symbol) => !others.includes(symbol))
}

function listed(symbols: readonly string[]): string {
  const last = symbols.at(-1) ?? ''
  return symbols.length < 2 ? last : `${symbols.slice(0, -1).join(', ')} and ${last}`
}

function usdc(units: bigint): string {
  return `${formatGrouped(units, USDC_DECIMALS)} USDC`
}
