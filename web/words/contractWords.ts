import type { ContractError } from '../../src/client/index.js'
import { ZERO_BYTES32 } from '../../src/protocol/hex.js'

/** What happened, and what to do. */
export type Words = readonly [title: string, advice: string]

const NO_INSTITUTION: Words = [
  'This wallet is in no institution',
  'A member of one can buy. Selling and withdrawing stay open.',
]

/** What a contract's refusal means for a person. */
export function contractWords({ code, args }: ContractError): Words {
  if (code === 'NotAdmitted' && args.orgId === ZERO_BYTES32) return NO_INSTITUTION
  return WORDS[code] ?? [`The contract refuses it (${code})`, 'Nothing was changed.']
}

/** By the names of the contracts' errors. */
const WORDS: Record<string, Words> = {
  NotCleared: ['Your wallet is not verified', 'The operator has to verify it (KYC) before it can trade.'],
  NotAdmitted: [
    'The platform does not admit your institution',
    'Its members cannot buy until the operator admits it. Selling and withdrawing stay open.',
  ],
  Leaving: [
    'This wallet is leaving its institution',
    'Until it has left it can sell and withdraw, but not buy.',
  ],
  PlatformPaused: [
    'The platform is paused',
    'Nothing is opened or settled until the pause ends, by itself after some days at most. What is open is safe.',
  ],
  AdminCannotLeave: ['An admin cannot leave', 'Hand the institution over to another wallet first.'],
  NoClaim: ['Nothing waits for this wallet', 'It has been paid already.'],
  NotClaimRecipient: [
    'It may not be paid to that wallet',
    'The operator has to approve a verified wallet for it.',
  ],
  WalletFrozen: [
    'These shares are frozen',
    'They can be paid once the operator releases the wallet’s holding.',
  ],
  NotFounded: ['No such institution was founded by that wallet', 'Check name and address.'],
  TooManyOpenOrders: ['You have as many open orders as there can be', 'Wait until one of them has ended.'],
  InstitutionTaken: ['An institution of this name exists already', 'Choose another name.'],
  AlreadyInInstitution: [
    'That wallet is in an institution already',
    'A wallet belongs to one institution at most.',
  ],
  NotInvited: ['The invitation does not stand any more', 'Ask the admin to invite this wallet again.'],
  NotMember: ['That wallet is no member', 'It was removed, or never joined.'],
  NotAdmin: ['This wallet is the admin of no institution', 'Connect the admin’s wallet.'],
  ReclaimTooEarly: [
    'It is too early to take this order back',
    'It can be taken back seven days after its deadline.',
  ],
}
