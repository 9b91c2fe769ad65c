import type { Result } from 'ethers'
import { z } from 'zod'
import { createContracts } from '../../chain/contracts.js'
import { interfaces } from '../../chain/interfaces.js'
import type { ChainLog, LogQuery } from '../../chain/logReader.js'
import type { ViewCaller } from '../../chain/views.js'
import type { ContractAddresses } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import { nameToBytes32 } from '../../protocol/identifiers.js'
import { uint256Schema } from '../../protocol/units.js'

/** A value of an event that may be shown: an amount (in base units), a deadline (Unix seconds) or a version number. */
const shownSchema = z.strictObject({
  name: z.enum(['amount', 'payout', 'supply', 'deadline', 'version', 'effectiveAt', 'until']),
  unit: z.enum(['USDC', 'shares', 'time', 'count']),
  value: uint256Schema,
})
export type Shown = z.output<typeof shownSchema>

/** The contracts in the order of their queries, with their tags. */
const TAGS = {
  institutionRegistry: 'registry',
  orderEscrow: 'escrow',
  confidentialLedger: 'ledger',
  equityToken: 'token',
  platformPool: 'pool',
  authority: 'authority',
  corporateActions: 'actions',
} as const

/** The addresses of the contracts; every event is watched where the Authority is among them. */
export type WatchedContracts = ContractAddresses & { readonly [name in keyof typeof TAGS]?: Hex }

/** Adds the contracts that no configuration names: the others know them. */
export async function everyContract(
  caller: ViewCaller,
  contracts: ContractAddresses,
): Promise<WatchedContracts> {
  const { escrow, token } = createContracts(caller, contracts)
  const [authority, corporateActions] = await Promise.all([escrow.authority(), token.actions()])
  return { ...contracts, authority, corporateActions }
}

/** The thirteen events of the product's narration. Each shows only amounts, deadlines and version numbers. */
const THIRTEEN = [
  row('institutionRegistry', 'InstitutionRegistered', 'institution registered'),
  row('institutionRegistry', 'AdminTransferred', 'admin transferred'),
  row('institutionRegistry', 'MemberUpdated', 'member updated'),
  row('orderEscrow', 'OrderOpened', 'order opened', show('amount', 'USDC'), show('deadline', 'time')),
  row('orderEscrow', 'OrderSettled', 'order settled', show('amount', 'USDC'), showPayout),
  row('orderEscrow', 'OrderRefunded', 'order refunded', show('amount', 'USDC')),
  row('confidentialLedger', 'PortfolioUpdated', 'portfolio updated', show('version', 'count')),
  row('confidentialLedger', 'PolicyUpdated', 'rulebook updated', show('version', 'count')),
  row('equityToken', 'KycUpdated', 'kyc updated'),
  row('equityToken', 'ListingUpdated', 'listing updated'),
  row('equityToken', 'FreezeUpdated', 'freeze updated'),
  row('platformPool', 'BatchMinted', 'batch minted', show('amount', 'shares'), show('supply', 'shares')),
  row('platformPool', 'BatchBurned', 'batch burned', show('amount', 'shares'), show('supply', 'shares')),
]

/** Every further event that our contracts declare. They show no more than the others. */
const FURTHER = [
  row('institutionRegistry', 'AdmissionUpdated', 'admission updated'),
  row('institutionRegistry', 'AdminProposed', 'admin proposed'),
  row('institutionRegistry', 'MoveProposed', 'move proposed'),
  row('institutionRegistry', 'MoveAccepted', 'move accepted'),
  row('institutionRegistry', 'MoveApproved', 'move approved', show('effectiveAt', 'time')),
  row('institutionRegistry', 'MoveWithdrawn', 'move withdrawn'),
  row('confidentialLedger', 'PortfolioMoved', 'portfolio moved'),
  row('orderEscrow', 'ClaimMade', 'claim made', showAmountOf('asset')),
  row('orderEscrow', 'ClaimPaid', 'claim paid', showAmountOf('asset')),
  row('orderEscrow', 'ClaimRecipientApproved', 'claim recipient approved'),
  row('platformPool', 'Funded', 'pool funded', show('amount', 'USDC')),
  row('platformPool', 'TreasuryMoved', 'treasury moved', show('amount', 'USDC')),
  // Each sends USDC to the pool, so the words are the pool's.
  ...(['institutionRegistry', 'orderEscrow', 'confidentialLedger', 'equityToken', 'authority'] as const).map(
    (contract) => ({ ...row(contract, 'UsdcSwept', 'usdc swept', show('amount', 'USDC')), tag: 'pool' }),
  ),
  row('authority', 'RotationScheduled', 'rotation scheduled', show('effectiveAt', 'time')),
  row('authority', 'RotationWithdrawn', 'rotation withdrawn'),
  row('authority', 'MeasurementRevoked', 'measurement revoked'),
  row('authority', 'Paused', 'platform paused', show('until', 'time')),
  row('authority', 'PauseLifted', 'pause lifted'),
  row('corporateActions', 'ActionProposed', 'action proposed', show('effectiveAt', 'time')),
  row('corporateActions', 'ActionWithdrawn', 'action withdrawn'),
  row('corporateActions', 'ActionEnacted', 'action enacted'),
]
const ROWS = [...THIRTEEN, ...FURTHER]
export const EVENT_NAMES: readonly string[] = [...new Set(ROWS.map(({ name }) => name))]

function row(
  contract: keyof typeof TAGS,
  name: string,
  says: string,
  ...shows: ((fields: Result) => Shown | null)[]
) {
  const fragment = interfaces[contract].getEvent(name)
  if (fragment === null) throw new TypeError(`${contract} has no event ${name}`)
  const tag: string = TAGS[contract]
  return { contract, tag, name, says, shows, fragment, topic: fragment.topicHash }
}

function show(name: Shown['name'], unit: Shown['unit']) {
  return (fields: Result): Shown => ({ name, unit, value: z.bigint().parse(fields.getValue(name)) })
}

/** Shows the unit too, because the amount means nothing without it; which shares is not shown. */
function showPayout(fields: Result): Shown | null {
  const payout = show('payout', unitOf(fields, 'payoutAsset'))(fields)
  return payout.value === 0n ? null : payout
}

function showAmountOf(asset: string) {
  return (fields: Result): Shown => show('amount', unitOf(fields, asset))(fields)
}

function unitOf(fields: Result, asset: string): 'USDC' | 'shares' {
  return fields.getValue(asset) === nameToBytes32('USDC') ? 'USDC' : 'shares'
}

/** A narrated event, as it is printed and stored. `details` name who and what: `operate watch` alone has them. */
export const narrationSchema = z.strictObject({
  event: z.enum(EVENT_NAMES),
  values: z.array(shownSchema),
  details: z.record(z.string(), z.string()).optional(),
})
export type Narration = z.output<typeof narrationSchema>

/** One printed line. `time` in Unix seconds. */
export type NarrationLine =
  | { readonly kind: 'event' | 'retraction'; readonly time: bigint; readonly narration: Narration }
  | { readonly kind: 'reset'; readonly time: bigint }

/** The queries for the narrated events, one a contract: of the thirteen, or of all where the Authority is among the contracts. */
export function queriesOf(contracts: WatchedContracts): LogQuery[] {
  const rows = contracts.authority === undefined ? THIRTEEN : ROWS
  const watched = [...new Set(rows.map(({ contract }) => contract))]
  return watched.flatMap((contract) => {
    const address = contracts[contract]
    const topics = [rows.filter((each) => each.contract === contract).map(({ topic }) => topic)]
    return address === undefined ? [] : [{ address, topics }]
  })
}

/** The narration of a log that one of the queries found; null where it has another form: a wrong address. */
export function narrationOf({ topics, data }: ChainLog): Narration | null {
  const found = ROWS.find(({ topic }) => topic === topics[0])
  if (found === undefined) return null
  const { contract, name, shows, fragment } = found
  try {
    const fields = interfaces[contract].decodeEventLog(fragment, data, topics)
    return { event: name, values: shows.map((read) => read(fields)).filter((shown) => shown !== null) }
  } catch {
    return null
  }
}

/** The tag of an event's contract, and what the event says in words. */
export function wordsOf(event: string): { readonly tag: string; readonly says: string } {
  const found = ROWS.find(({ name }) => name === event)
  if (found === undefined) throw new TypeError(`the table has no ${event}`)
  return { tag: found.tag, says: found.says }
}
