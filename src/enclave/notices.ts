import { type FeeSchedule, feeNames } from '../protocol/fees.js'
import type { Hex } from '../protocol/hex.js'
import type { RunResult } from '../protocol/job.js'
import { sealNotice } from '../protocol/notice.js'
import { CENT_DECIMALS, formatGrouped, SHARE_DECIMALS, USDC_DECIMALS } from '../protocol/units.js'

/** For the employee's eyes only: why an order was refused, the value of its fill, or why it waits for its turn at the broker. */
const sentences = {
  'escrow-mismatch': 'The amount in the order is not the amount that was put into escrow.',
  'deadline-mismatch': 'The order and its escrow carry different deadlines.',
  'nonce-not-fresh':
    'A later order of yours was accepted first, so this one no longer counts: place it again.',
  'nonce-too-far-ahead':
    'The order is numbered more than a day ahead: correct the clock of the device, and place it again.',
  'limit-price-increment':
    'The broker takes limit prices in whole cents, and in hundredths of a cent below a dollar.',
  expired: 'The deadline passed before the order could be carried out.',
  'below-minimum': 'The order is below the smallest one that the platform takes.',
  'over-limit': 'The order is above the largest amount that your institution allows.',
  'no-institution': 'Only a member of an institution can buy or deposit USDC.',
  'not-admitted': 'The platform does not admit your institution at present: you can sell and withdraw.',
  leaving:
    'You are leaving your institution: until then you can sell and withdraw, but not buy or deposit USDC.',
  'not-permitted': 'Your institution does not allow you to place this kind of order.',
  'restricted-symbol': 'Your institution does not allow you to trade this symbol.',
  'withdrawals-not-allowed': 'Your institution does not allow you to withdraw shares.',
  kyc: 'Your wallet is not verified.',
  frozen: 'Your holding of this symbol is frozen.',
  'not-listed': 'This symbol is not listed.',
  'shares-removed': 'These shares were removed as worthless: they stay in your wallet.',
  'not-tradable': 'This symbol cannot be bought at the moment.',
  'portfolio-full':
    'Your portfolio is full: sell or withdraw a position first, or wait until your open orders have ended.',
  'insufficient-cash': 'There is not enough free cash for this order.',
  'insufficient-shares': 'There are not enough free shares for this order.',
  'pool-short': 'The platform cannot pay this out at the moment: try again later.',
  'closed-until-deadline': 'The market stays closed until after the deadline.',
  'broker-rejected': 'The broker rejected the order.',
  cancelled: 'The order was cancelled before any of it was filled.',
  'expired-at-close': 'The market closed before any of the order was filled.',
  'deadline-passed': 'Nothing was filled before the deadline.',
  'corporate-action':
    'A corporate action of this symbol is under way: once your portfolio shows what it did, place the order again.',
  'not-placed': 'The order could not be placed.',
  filled: 'The order was filled.',
  'waits-for-opposite':
    'The order waits: the broker takes none while an opposite order of the same symbol is open, whoever placed it.',
  'waits-for-rate':
    'The order waits: the broker takes so many requests a minute, and the oldest orders go first.',
} as const

/** Programs branch on these codes; `docs/enclave.md` lists them. */
export type NoticeCode = keyof typeof sentences

export const noticeCodes = Object.keys(sentences).filter(isNoticeCode)

function isNoticeCode(code: string): code is NoticeCode {
  return Object.hasOwn(sentences, code)
}

/**
 * A notice sealed to the employee's key.
 * @param detail a second sentence; with it the notice still has the size of the others
 */
export function noticeOf(
  orderId: Hex,
  code: NoticeCode,
  userPubKey: Hex,
  detail?: string,
): Promise<NonNullable<RunResult['notice']>> {
  const message = detail === undefined ? sentences[code] : `${sentences[code]} ${detail}`
  return sealNotice({ orderId, code, message }, userPubKey)
}

/** Why an order that was filled in part goes no further. */
export const REST_ENDED = 'A corporate action of this symbol ended the rest of the order.'

/** Where an order stands that waits for the broker's rate. */
export function aheadWords(ahead: number): string {
  if (ahead === 0) return 'No other one is ahead of it.'
  return ahead === 1 ? 'One other is ahead of it.' : `${ahead} others are ahead of it.`
}

/**
 * A trade in a sentence: with what it paid in fees, or will.
 * @param trade.value USDC base units that the shares cost, or brought before fees
 */
export function tradeWords(
  trade: { side: 'BUY' | 'SELL'; symbol: string; qty: bigint; value: bigint; fees: bigint },
  schedule: FeeSchedule,
): string {
  const { side, symbol, qty, value, fees } = trade
  const shares = `${formatGrouped(qty, SHARE_DECIMALS)} ${symbol}`
  const usdc = (amount: bigint) => `${formatGrouped(amount, USDC_DECIMALS, CENT_DECIMALS)} USDC`
  if (side === 'SELL') {
    return `Sold ${shares} for ${usdc(value)}, less ${usdc(fees)} in fees: ${usdc(value - fees)}.`
  }
  const bought = `Bought ${shares} for ${usdc(value)}.`
  return feeNames(schedule, 'both') === ''
    ? bought
    : `${bought} When you sell, you pay the broker's fees for both trades.`
}
