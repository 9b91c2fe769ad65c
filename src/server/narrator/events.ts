import * as z from 'zod'
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
  row('orderEscrow', 'OrderOpened', 'order opened', ['amount', 'USDC'], ['deadline', 'time']),
  row('orderEscrow', 'OrderSettled', 'order settled', ['amount', 'USDC'], ['payout', 'payoutAsset']),
  row('orderEscrow', 'OrderRefunded', 'order refunded', ['amount', 'USDC']),
  row('confidentialLedger', 'PortfolioUpdated', 'portfolio updated', ['version', 'count']),
  row('confidentialLedger', 'PolicyUpdated', 'rulebook updated', ['version', 'count']),
  row('equityToken', 'KycUpdated', 'kyc updated'),
  row('equityToken', 'ListingUpdated', 'listing updated'),
  row('equityToken', 'FreezeUpdated', 'freeze updated'),
  row('platformPool', 'BatchMinted', 'batch minted', ['amount', 'shares'], ['supply', 'shares']),
  row('platformPool', 'BatchBurned', 'batch burned', ['amount', 'shares'], ['supply', 'shares']),
]

/** Every further event that our contracts declare. They show no more than the others. */
const FURTHER = [
  row('institutionRegistry', 'AdmissionUpdated', 'admission updated'),
  row('institutionRegistry', 'AdminProposed', 'admin proposed'),
  row('institutionRegistry', 'MoveProposed', 'move proposed'),
  row('institutionRegistry', 'MoveAccepted', 'move accepted'),
  row('institutionRegistry', 'MoveApproved', 'move approved', ['effectiveAt', 'time']),
  row('institutionRegistry', 'MoveWithdrawn', 'move withdrawn'),
  row('confidentialLedger', 'PortfolioMoved', 'portfolio moved'),
  row('orderEscrow', 'ClaimMade', 'claim made', ['amount', 'asset']),
  row('orderEscrow', 'ClaimPaid', 'claim paid', ['amount', 'asset']),
  row('orderEscrow', 'ClaimRecipientApproved', 'claim recipient approved'),
  row('platformPool', 'Funded', 'pool funded', ['amount', 'USDC']),
  row('platformPool', 'TreasuryMoved', 'treasury moved', ['amount', 'USDC']),
  // Each sends USDC to the pool, so the words are the pool's.
  ...(['institutionRegistry', 'orderEscrow', 'confidentialLedger', 'equityToken', 'authority'] as const).map(
    (contract) => ({ ...row(contract, 'UsdcSwept', 'usdc swept', ['amount', 'USDC']), tag: 'pool' }),
  ),
  row('authority', 'RotationScheduled', 'rotation scheduled', ['effectiveAt', 'time']),
  row('authority', 'RotationWithdrawn', 'rotation withdrawn'),
  row('authority', 'MeasurementRevoked', 'measurement revoked'),
  row('authority', 'Paused', 'platform paused', ['until', 'time']),
  row('authority', 'PauseLifted', 'pause lifted'),
  row('corporateActions', 'ActionProposed', 'action proposed', ['effectiveAt', 'time']),
  row('corporateActions', 'ActionWithdrawn', 'action withdrawn'),
  row('corporateActions', 'ActionEnacted', 'action enacted'),
]
const ROWS = [...THIRTEEN, ...FURTHER]
const USDC = nameToBytes32('USDC')
export const EVENT_NAMES: readonly string[] = [...new Set(ROWS.map(({ name }) => name))]

/** @param shows the shown fields, each with its unit, or with the field that names its asset */
function row(
  contract: keyof typeof TAGS,
  name: string,
  says: string,
  ...shows: (readonly [field: Shown['name'], unit: Shown['unit'] | 'asset' | 'payoutAsset'])[]
) {
  const fragment = interfaces[contract].getEvent(name)
  if (fragment === null) throw new TypeError(`${contract} has no event ${name}`)
  const tag: string = TAGS[contract]
  return { contract, tag, name, says, shows, fragment, topic: fragment.topicHash }
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
  return [...Map.groupBy(rows, ({ contract }) => contract)].flatMap(([contract, own]) => {
    const address = contracts[contract]
    return address === undefined ? [] : [{ address, topics: [own.map(({ topic }) => topic)] }]
  })
}

/** The narration of a log that one of the queries found; null where it has another form: a wrong address. */
export function narrationOf({ topics, data }: ChainLog): Narration | null {
  const found = ROWS.find(({ topic }) => topic === topics[0])
  if (found === undefined) return null
  const { contract, name: event, shows, fragment } = found
  try {
    const fields = interfaces[contract].decodeEventLog(fragment, data, topics)
    const values = shows.map(([name, shown]): Shown => {
      // Whether an asset is USDC is shown, because an amount means nothing without its unit; which shares is not shown.
      const ofAsset = () => (fields.getValue(shown) === USDC ? 'USDC' : 'shares')
      const unit = shown === 'asset' || shown === 'payoutAsset' ? ofAsset() : shown
      return { name, unit, value: BigInt(fields.getValue(name)) }
    })
    return { event, values: values.filter(({ name, value }) => name !== 'payout' || value > 0n) }
  } catch {
    return null
  }
}

/** The tag of an event's contract, and what the event says in words. */
export function wordsOf(event: string): { readonly tag: string; readonly says: string } {
  const found = ROWS.find(({ name }) => name === event)
  if (found === undefined) throw new TypeError(`the table has no ${event}`)
  return found
}
