import { expect, it } from 'vitest'
import { rulebookChanges } from '../../src/client/rulebookChanges.js'
import type { Policy } from '../../src/protocol/policy.js'

const ADA = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'
const BEN = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65'
const free = { canBuy: true, canSell: true, restricted: [] as string[] }

const policyOf = (employees: Policy['employees'], change: Partial<Policy> = {}): Policy => ({
  employees,
  maxOrderNotional: 20_000_000_000n,
  allowWithdrawShares: false,
  ...change,
})

/** The changes as a person reads them. */
async function said(before: Policy | null, after: Policy): Promise<string[]> {
  return (await rulebookChanges(before, after)).map(({ effect, employee, text }) => {
    const who = employee === ADA ? 'Ada ' : employee === BEN ? 'Ben ' : ''
    return `${effect}: ${who}${text}`
  })
}

it('every rule of a rulebook is an addition where nothing is known before', async () => {
  const ada = { ...free, restricted: ['AAPL', 'MSFT', 'TSLA'] }
  expect(await said(null, policyOf({ [ADA]: ada, [BEN]: { ...free, canBuy: false } }))).toEqual([
    'added: Ben may sell every symbol, and buy none',
    'added: Ada may buy and sell every symbol but AAPL, MSFT and TSLA',
    'added: an order may be at most 20,000 USDC',
    'added: shares may not be withdrawn',
  ])
})

it('a wallet is compared by what its group or the default comes to, and the default is named itself', async () => {
  const desk = { groups: { Desk: { ...free, restricted: ['TSLA'] } } }
  const before = policyOf({ [ADA]: { group: 'Desk' }, [BEN]: { ...free, restricted: ['TSLA'] } }, desk)
  expect(await said(before, policyOf({ [ADA]: free }, { default: { ...free, canBuy: false } }))).toEqual([
    'lifted: Ben may now trade TSLA',
    'lifted: Ada may now trade TSLA',
    'lifted: a member who is not listed may sell every symbol, and buy none',
    'tightened: Ben may no longer buy',
  ])
  const grouped = policyOf({}, { ...desk, default: { group: 'Desk' } })
  expect(await said(policyOf({ [ADA]: free }, { default: free }), grouped)).toEqual([
    'tightened: Ada may no longer trade TSLA',
    'tightened: a member who is not listed may no longer trade TSLA',
  ])
  expect(await said(grouped, policyOf({}))).toEqual([
    'tightened: a member who is not listed may neither buy nor sell',
  ])
})

it('a rule that is lifted is named as lifted, before everything else', async () => {
  const before = policyOf({ [ADA]: { canBuy: false, canSell: false, restricted: ['TSLA', 'AAPL'] } })
  const after = policyOf(
    { [ADA]: { ...free, restricted: ['MSFT'] }, [BEN]: free },
    { maxOrderNotional: 25_000_500_000n, allowWithdrawShares: true },
  )
  expect(await said(before, after)).toEqual([
    'lifted: Ben may buy and sell every symbol',
    'lifted: Ada may now buy',
    'lifted: Ada may now sell',
    'lifted: Ada may now trade TSLA and AAPL',
    'lifted: an order may be at most 25,000.5 USDC (was 20,000 USDC)',
    'lifted: shares may be withdrawn',
    'tightened: Ada may no longer trade MSFT',
  ])
  expect(await said(after, before)).toEqual([
    'lifted: Ada may now trade MSFT',
    'tightened: Ben is no longer listed, so it may neither buy nor sell',
    'tightened: Ada may no longer buy',
    'tightened: Ada may no longer sell',
    'tightened: Ada may no longer trade TSLA and AAPL',
    'tightened: an order may be at most 20,000 USDC (was 25,000.5 USDC)',
    'tightened: shares may not be withdrawn',
  ])
})

it('cases, the order of symbols and a listing without a right change nothing, and the last is named where nothing is known', async () => {
  const rules = { ...free, restricted: ['TSLA', 'AAPL'] }
  const turned = { ...free, restricted: ['AAPL', 'TSLA'] }
  expect(await said(policyOf({ [ADA]: rules }), policyOf({ [ADA.toLowerCase()]: turned }))).toEqual([])
  const none = { canBuy: false, canSell: false, restricted: ['TSLA'] }
  const [without, listed] = [policyOf({ [BEN]: free }), policyOf({ [ADA]: none, [BEN]: free })]
  expect(await said(without, listed)).toEqual([])
  expect(await said(listed, without)).toEqual([])
  expect(await said(null, listed)).toContain('added: Ada may neither buy nor sell')
  expect(await said(policyOf({}), policyOf({ [BEN]: { ...free, canSell: false } }))).toEqual([
    'lifted: Ben may buy every symbol, and sell none',
  ])
})
