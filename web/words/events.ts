import { Interface, type Result } from 'ethers'
import { authorityAbi } from '../../src/chain/generated/authorityAbi.js'
import { confidentialLedgerAbi } from '../../src/chain/generated/confidentialLedgerAbi.js'
import { corporateActionsAbi } from '../../src/chain/generated/corporateActionsAbi.js'
import { equityTokenAbi } from '../../src/chain/generated/equityTokenAbi.js'
import { institutionRegistryAbi } from '../../src/chain/generated/institutionRegistryAbi.js'
import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'
import { platformPoolAbi } from '../../src/chain/generated/platformPoolAbi.js'
import { bytes32ToName } from '../../src/client/index.js'
import { money, shares, shortHex, timeOfDay } from './format.js'

/** An event of one of the contracts, for a person. */
export interface EventWords {
  readonly tag: string
  readonly says: string
}

type Say = (args: Result) => string

const text = (args: Result, field: string) => String(args.getValue(field))
const units = (args: Result, field: string) => BigInt(text(args, field))
const wallet = (args: Result, field: string) => shortHex(text(args, field))
const name = (args: Result, field: string) => {
  const value = text(args, field)
  return bytes32ToName(`0x${value.slice(2)}`) ?? shortHex(value)
}

function payout(args: Result): string {
  const paid = units(args, 'payout')
  if (paid === 0n) return ''
  const asset = name(args, 'payoutAsset')
  return asset === 'USDC' ? `, ${money(paid)} USDC paid out` : `, ${shares(paid)} ${asset} paid out`
}

/** As many base units of the asset as its field says: `5.00 USDC`, `2 AAPL`. */
function amountOf(args: Result, asset: string): string {
  const [amount, of] = [units(args, 'amount'), name(args, asset)]
  return `${of === 'USDC' ? money(amount) : shares(amount)} ${of}`
}

/** The lost wallet and the new one of a move. */
const wallets = (args: Result) => `${wallet(args, 'from')} to ${wallet(args, 'to')}`

const ROLES = ['owner', 'guardian', "enclave's signer"]
const role = (args: Result) => ROLES[Number(text(args, 'role'))] ?? 'role'
const until = (args: Result, field: string) =>
  timeOfDay(new Date(Number(text(args, field)) * 1_000).toISOString(), new Date())

/** Every event that the contracts declare. */
const SAY: Record<string, readonly [tag: string, say: Say]> = {
  InstitutionRegistered: [
    'registry',
    (args) => `${name(args, 'orgId')} was founded by ${wallet(args, 'admin')}`,
  ],
  AdminTransferred: ['registry', (args) => `${name(args, 'orgId')} has the admin ${wallet(args, 'to')} now`],
  MemberUpdated: [
    'registry',
    (args) =>
      `${wallet(args, 'wallet')} ${text(args, 'active') === 'true' ? 'joined' : 'was invited to, or left,'} ${name(args, 'orgId')}`,
  ],
  OrderOpened: [
    'escrow',
    (args) => {
      const amount = units(args, 'amount')
      const what = amount === 0n ? 'a request, no amount shown' : `${money(amount)} USDC in escrow`
      return `Order ${wallet(args, 'orderId')} opened: ${what}`
    },
  ],
  OrderSettled: ['escrow', (args) => `Order ${wallet(args, 'orderId')} settled${payout(args)}`],
  OrderRefunded: [
    'escrow',
    (args) => `Order ${wallet(args, 'orderId')} refunded: ${money(units(args, 'amount'))} USDC`,
  ],
  PortfolioUpdated: ['ledger', (args) => `A portfolio was written, version ${text(args, 'version')}`],
  PolicyUpdated: ['ledger', (args) => `${name(args, 'orgId')} has rulebook version ${text(args, 'version')}`],
  KycUpdated: [
    'token',
    (args) => `${wallet(args, 'wallet')} is ${text(args, 'verified') === 'true' ? '' : 'no longer '}verified`,
  ],
  ListingUpdated: [
    'token',
    (args) => `${name(args, 'symbol')} is ${text(args, 'listed') === 'true' ? '' : 'no longer '}listed`,
  ],
  FreezeUpdated: [
    'token',
    (args) =>
      `${name(args, 'symbol')} of ${wallet(args, 'wallet')} is ${text(args, 'frozen') === 'true' ? '' : 'no longer '}frozen`,
  ],
  BatchMinted: [
    'pool',
    (args) =>
      `${shares(units(args, 'amount'))} ${name(args, 'symbol')} minted, ${shares(units(args, 'supply'))} in all`,
  ],
  BatchBurned: [
    'pool',
    (args) =>
      `${shares(units(args, 'amount'))} ${name(args, 'symbol')} burned, ${shares(units(args, 'supply'))} left`,
  ],
  AdmissionUpdated: [
    'registry',
    (args) =>
      `${name(args, 'orgId')} of ${wallet(args, 'admin')} is ${text(args, 'admitted') === 'true' ? 'admitted' : 'suspended'}`,
  ],
  AdminProposed: [
    'registry',
    (args) =>
      BigInt(text(args, 'to')) === 0n
        ? `Nobody is proposed as the next admin of ${name(args, 'orgId')} any more`
        : `${wallet(args, 'to')} is proposed as the next admin of ${name(args, 'orgId')}`,
  ],
  MoveProposed: [
    'registry',
    (args) => `${name(args, 'orgId')} proposes to move the portfolio of ${wallets(args)}`,
  ],
  MoveAccepted: ['registry', (args) => `The new wallet accepts the portfolio of ${wallets(args)}`],
  MoveApproved: [
    'registry',
    (args) => `The portfolio of ${wallets(args)} may move from ${until(args, 'effectiveAt')} on`,
  ],
  MoveWithdrawn: [
    'registry',
    (args) => `The portfolio of ${wallets(args)} does not move: ${wallet(args, 'by')} ended it`,
  ],
  PortfolioMoved: [
    'ledger',
    (args) =>
      `${text(args, 'partsLeft') === '0' ? 'The' : 'A part of the'} portfolio of ${wallets(args)} has moved`,
  ],
  ClaimMade: [
    'escrow',
    (args) => `${wallet(args, 'account')} could not receive ${amountOf(args, 'asset')}: a claim`,
  ],
  ClaimPaid: [
    'escrow',
    (args) =>
      `A claim of ${wallet(args, 'account')} was paid to ${wallet(args, 'to')}: ${amountOf(args, 'asset')}`,
  ],
  ClaimRecipientApproved: [
    'escrow',
    (args) =>
      BigInt(text(args, 'to')) === 0n
        ? `Claims of ${wallet(args, 'account')} in ${name(args, 'asset')} go to no other wallet any more`
        : `Claims of ${wallet(args, 'account')} in ${name(args, 'asset')} may go to ${wallet(args, 'to')}`,
  ],
  Funded: [
    'pool',
    (args) => `${wallet(args, 'from')} added ${money(units(args, 'amount'))} USDC to the pool`,
  ],
  TreasuryMoved: [
    'pool',
    (args) => `${money(units(args, 'amount'))} USDC of the pool went to the broker, ${wallet(args, 'to')}`,
  ],
  UsdcSwept: [
    'pool',
    (args) => `${money(units(args, 'amount'))} USDC that lay in a contract by mistake went to the pool`,
  ],
  RotationScheduled: [
    'authority',
    (args) => `${wallet(args, 'to')} becomes the ${role(args)} on ${until(args, 'effectiveAt')}`,
  ],
  RotationWithdrawn: ['authority', (args) => `The ${role(args)} stays: the change was withdrawn`],
  MeasurementRevoked: [
    'authority',
    (args) => `The program ${wallet(args, 'measurement')} was revoked, for good`,
  ],
  Paused: ['authority', (args) => `The platform is paused until ${until(args, 'until')}`],
  ActionProposed: [
    'actions',
    (args) =>
      `A corporate action on ${name(args, 'symbol')} may be enacted from ${until(args, 'effectiveAt')} on`,
  ],
  ActionWithdrawn: ['actions', () => 'A proposed corporate action was withdrawn'],
  ActionEnacted: ['actions', (args) => `A corporate action on ${name(args, 'symbol')} was enacted`],
  PauseLifted: ['authority', () => 'The pause was lifted'],
}

const ABIS = [
  institutionRegistryAbi,
  orderEscrowAbi,
  confidentialLedgerAbi,
  equityTokenAbi,
  platformPoolAbi,
  authorityAbi,
  corporateActionsAbi,
]
/** Their events alone: all of them take longer to parse than a frame. */
const EVENTS = new Interface(ABIS.flat().filter((line) => line.startsWith('event ')))

/** A contract's log in plain words; null for inherited events and other contracts. */
export function eventWords(log: { topics: readonly string[]; data: string }): EventWords | null {
  const event = EVENTS.parseLog({ topics: [...log.topics], data: log.data })
  const row = event === null ? undefined : SAY[event.name]
  return event !== null && row !== undefined ? { tag: row[0], says: row[1](event.args) } : null
}
