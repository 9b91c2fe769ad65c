// Claims, and USDC that was sent to the escrow by mistake: what a step sends to the chain, and what should come of it.

import type { Hex } from '../../../src/protocol/hex.js'
import type { TestChain } from '../chain.js'
import { USDC } from '../institution.js'
import { type Attempt, receiveRefusal } from './authorized.js'
import { balanceOf, claimedOf, claimOf, escrowedOf, type ModelState, move, setClaim } from './state.js'
import { type ActionOf, type ClaimPick, SYMBOLS, WALLETS, type Wallet } from './steps.js'

export function createClaiming(chain: TestChain, state: ModelState) {
  function picked({ index, wallet, asset }: ClaimPick): { wallet: Wallet; asset: Hex } {
    const waiting = WALLETS.flatMap((owner) =>
      [USDC, ...SYMBOLS]
        .filter((held) => claimOf(state, held, owner) > 0n)
        .map((held) => ({ wallet: owner, asset: held })),
    )
    return waiting[index % Math.max(1, waiting.length)] ?? { wallet, asset }
  }

  function claim({ of, to }: ActionOf<'claim'>): Attempt {
    const { wallet, asset } = picked(of)
    const allowed = state.recipients.get(`${wallet} ${asset}`)
    const recipient = to === 'account' ? wallet : to === 'approved' ? (allowed ?? wallet) : to
    const amount = claimOf(state, asset, wallet)
    const approved = allowed === recipient && state.kyc.has(recipient)
    const refusal = amount === 0n ? 'NoClaim' : recipient === wallet || approved ? null : 'NotClaimRecipient'
    const expected = refusal ?? receiveRefusal(state, asset, recipient)
    if (expected === null) {
      setClaim(state, asset, wallet, 0n)
      move(state, asset, 'escrow', recipient, amount)
    }
    const call: Attempt['call'] = ['escrow', 'claim', asset, chain.account(recipient)]
    return { from: wallet, call, expected }
  }

  function approve({ of, to }: ActionOf<'approve'>): Attempt {
    const { wallet, asset } = picked(of)
    state.recipients.set(`${wallet} ${asset}`, to)
    const args = [chain.account(wallet), asset, chain.account(to)]
    return { from: 'owner', call: ['escrow', 'approveClaimRecipient', ...args], expected: null }
  }

  function blacklist({ wallet, on }: ActionOf<'blacklist'>): Attempt {
    if (on) state.blacklisted.add(wallet)
    else state.blacklisted.delete(wallet)
    return { from: 'relayer', call: ['usdc', 'setBlacklisted', chain.account(wallet), on], expected: null }
  }

  function gift({ wallet, amount }: ActionOf<'gift'>): Attempt {
    const short = amount > balanceOf(state, USDC, wallet) ? 'ERC20InsufficientBalance' : null
    const expected = receiveRefusal(state, USDC, wallet) ?? short
    if (expected === null) move(state, USDC, wallet, 'escrow', amount)
    return { from: wallet, call: ['usdc', 'transfer', chain.addressOf('escrow'), amount], expected }
  }

  function sweep(): Attempt {
    const surplus = balanceOf(state, USDC, 'escrow') - escrowedOf(state, USDC) - claimedOf(state, USDC)
    const expected = surplus === 0n ? 'NothingToSweep' : null
    if (expected === null) move(state, USDC, 'escrow', 'pool', surplus)
    return { from: 'relayer', call: ['escrow', 'sweepUsdc'], expected }
  }

  return { claim, approve, blacklist, gift, sweep }
}
