import type { OrderStatus } from '../../src/client/index.js'
import { ZERO_BYTES32 } from '../../src/protocol/hex.js'

/** A failure's title and advice. */
export type Words = readonly [title: string, advice: string]

const NO_INSTITUTION: Words = [
  'This wallet has no institution',
  'Only members of an institution can buy. You can still sell and withdraw.',
]

/** A contract's error. */
type Revert = NonNullable<NonNullable<OrderStatus['opening']>['error']>

/** A contract's refusal in plain words; null: it has no reason. */
export function revertWords(revert: Revert | null): Words {
  const { name, args } = revert ?? { name: 'unknown', args: {} }
  if (name === 'NotAdmitted' && args.orgId === ZERO_BYTES32) return NO_INSTITUTION
  return WORDS[name] ?? [`The contract refused it (${name})`, 'It had no effect.']
}

/** By the names of the contracts' errors. */
const WORDS: Record<string, Words> = {
  NotCleared: ['Your wallet is not verified', 'The operator must verify it (KYC) before it can trade.'],
  NotAdmitted: [
    'The platform does not admit your institution',
    'You cannot buy until the operator admits it. You can still sell and withdraw.',
  ],
  Leaving: ['This wallet is leaving its institution', 'It can still sell and withdraw, but not buy.'],
  PlatformPaused: [
    'The platform is paused',
    'No order can open or settle until the pause ends, within a few days. Your open orders are safe.',
  ],
  AdminCannotLeave: ['An admin cannot leave', 'Hand the institution over to another wallet first.'],
  NoClaim: ['This wallet has no claims', 'They have already been paid.'],
  NotClaimRecipient: [
    'This cannot be paid to that wallet',
    'The operator must first approve a verified wallet.',
  ],
  WalletFrozen: [
    'These shares are frozen',
    'They can be paid once the operator releases the wallet’s holding.',
  ],
  OrderIdTaken: ['Another wallet has taken this order’s id', 'No money moved. Place the order again.'],
  OpeningExpired: ['The signature has expired', 'No money moved. Place the order again.'],
  ERC20InsufficientBalance: [
    'The wallet holds less USDC than the order needs',
    'No money moved. Send it again once the wallet has enough, or place a smaller order.',
  ],
  RefusedByNodes: ['The chain’s nodes refused the transaction', 'No money moved. Try again in a minute.'],
  NotFounded: ['That wallet has not created this institution', 'Check the name and the address.'],
  TooManyOpenOrders: ['You have reached the limit of open orders', 'Wait until one of them ends.'],
  InstitutionTaken: ['An institution with this name already exists', 'Choose another name.'],
  AlreadyInInstitution: [
    'That wallet already belongs to an institution',
    'A wallet can belong to only one institution.',
  ],
  NotInvited: ['The invitation is no longer valid', 'Ask the admin to invite this wallet again.'],
  NotMember: ['That wallet is not a member', 'It was removed, or never joined.'],
  NotAdmin: ['This wallet is not the admin of an institution', 'Connect the admin’s wallet.'],
  MoveProposedAlready: [
    'A move of this wallet’s portfolio is proposed already',
    'Withdraw that one first, if it is wrong.',
  ],
  MoveNotApprovable: [
    'This move cannot be approved',
    'The new wallet has not accepted it, or it is approved already.',
  ],
  NoMove: ['There is no such move', 'It was withdrawn or carried out, or both wallets are the same.'],
  NotMovesParty: [
    'This wallet cannot end the move',
    'The lost wallet, its admin and the platform’s owner can.',
  ],
  ReclaimTooEarly: [
    'It is too early to reclaim this order',
    'You can reclaim it seven days after its deadline.',
  ],
}
