// USDC that was sent to a contract by mistake goes to the pool, and nothing that belongs to an order or a claim with it.

import { describe, expect, it } from 'vitest'
import { useChain } from '../support/chain.js'
import { setUpInstitution } from '../support/institution.js'
import { orderActions } from '../support/orderActions.js'
import { usdcFixture } from './fixtures/usdc.js'

const usdc = await usdcFixture('BlacklistingUsdc')
const chain = useChain(setUpInstitution, usdc)
const { usdcOf } = orderActions(chain)

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
