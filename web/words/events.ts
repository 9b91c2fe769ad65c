import { Interface, type InterfaceAbi, type Result } from 'ethers'
import { confidentialLedgerAbi } from '../../src/chain/generated/confidentialLedgerAbi.js'
import { equityTokenAbi } from '../../src/chain/generated/equityTokenAbi.js'
import { institutionRegistryAbi } from '../../src/chain/generated/institutionRegistryAbi.js'
import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'
import { platformPoolAbi } from '../../src/chain/generated/platformPoolAbi.js'
import { bytes32ToName } from '../../src/protocol/identifiers.js'
import { money, shares, shortHex } from './format.js'

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

/** The events that the server narrates. */
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
}

const ABIS: readonly InterfaceAbi[] = [
  institutionRegistryAbi,
  orderEscrowAbi,
  confidentialLedgerAbi,
  equityTokenAbi,
  platformPoolAbi,
]
const INTERFACES = ABIS.map((abi) => new Interface(abi))

/** A contract's log in plain words; null for inherited events and other contracts. */
export function eventWords(log: { topics: readonly string[]; data: string }): EventWords | null {
  for (const contract of INTERFACES) {
    const event = contract.parseLog({ topics: [...log.topics], data: log.data })
    const row = event === null ? undefined : SAY[event.name]
    if (event !== null && row !== undefined) return { tag: row[0], says: row[1](event.args) }
  }
  return null
}
