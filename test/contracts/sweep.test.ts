// USDC that was sent to a contract by mistake goes to the pool, and nothing that belongs to an order or a claim with it.

import { describe, expect, it } from 'vitest'
import { refund, settlement } from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import { FUNDS, setUpInstitution, USDC, usd } from '../support/institution.js'
import { orderActions } from '../support/orderActions.js'
import { usdcFixture } from './fixtures/usdc.js'

const usdc = await usdcFixture('BlacklistingUsdc')
const chain = useChain(setUpInstitution, usdc)
const { account, buy, relay, request, usdcOf } = orderActions(chain)

const pool = () => chain().addressOf('pool')
const CONTRACTS = ['authority', 'registry', 'escrow', 'ledger', 'token', 'aapl'] as const
const NOTHING = { name: 'NothingToSweep', args: {} }

describe.each(CONTRACTS)('%s', (contract) => {
  it('gives up USDC that was sent to it by mistake, to the unit, at any caller’s request', async () => {
    expect(await chain().revert('dave', contract, 'sweepUsdc')).toEqual(NOTHING)
    await chain().send('carol', 'usdc', 'transfer', chain().addressOf(contract), 7n)
    await chain().send('dave', contract, 'sweepUsdc')
    expect(await usdcOf(pool())).toBe(7n)
    expect(await usdcOf(chain().addressOf(contract))).toBe(0n)
    expect(await chain().revert('dave', contract, 'sweepUsdc')).toEqual(NOTHING)
  })

  it('can be sent no shares', async () => {
    expect(await chain().revert('carol', 'aapl', 'transfer', chain().addressOf(contract), 0n)).toEqual({
      name: 'NotCleared',
      args: { wallet: chain().addressOf(contract) },
    })
  })
})

describe('the escrow', () => {
  it('keeps what open orders and claims hold, and gives up exactly the rest', async () => {
    const sweepRevert = () => chain().revert('dave', 'escrow', 'sweepUsdc')
    const first = await buy('alice', 'first', usd(1_000))
    await buy('bob', 'second', usd(50))
    expect(await sweepRevert()).toEqual(NOTHING)
    await usdc.turn(chain(), 'setBlacklisted', account('alice'), true)
    await relay(refund(first))
    expect(await chain().read('escrow', 'claimed', USDC)).toBe(usd(1_000))
    expect(await sweepRevert()).toEqual(NOTHING)
    await chain().send('carol', 'usdc', 'transfer', chain().addressOf('escrow'), 3n)
    await chain().send('dave', 'escrow', 'sweepUsdc')
    expect(await usdcOf(pool())).toBe(3n)
    expect(await usdcOf(chain().addressOf('escrow'))).toBe(usd(1_050))
    expect(await sweepRevert()).toEqual(NOTHING)
    await usdc.turn(chain(), 'setBlacklisted', account('alice'), false)
    await chain().send('alice', 'escrow', 'claim', USDC, account('alice'))
    expect(await usdcOf(account('alice'))).toBe(FUNDS)
    expect(await sweepRevert()).toEqual(NOTHING)
  })

  it('has nothing to give up after a settlement or a reclaimed request', async () => {
    await relay(settlement(await buy('alice', 'buy', usd(9))))
    await relay(refund(await request('bob', 'sale')))
    expect(await chain().revert('dave', 'escrow', 'sweepUsdc')).toEqual(NOTHING)
    expect(await chain().read('escrow', 'escrowed')).toBe(0n)
  })
})
