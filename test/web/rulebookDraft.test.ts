import { describe, expect, it } from 'vitest'
import type { Policy } from '../../src/protocol/policy.js'
import {
  beginningOf,
  isUncovered,
  isUnknown,
  policyOf,
  withEmployees,
  withImported,
  withRules,
} from '../../web/rulebooks/rulebookDraft.js'

const ada = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'
const ben = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65'
const free = { canBuy: true, canSell: true, restricted: [] }
const barred = { canBuy: false, canSell: false, restricted: [] }
const ofAda = { canBuy: false, canSell: true, restricted: ['TSLA'] }
const restricted = { address: ada, ...ofAda } as const
const policy: Policy = {
  employees: { [ada.toLowerCase()]: ofAda },
  maxOrderNotional: 20_000_500_000n,
  allowWithdrawShares: true,
}
const SYMBOLS = ['AAPL', 'TSLA']
const FIRST = { version: 0, policy: null }
const KNOWN = { version: 2, policy }

describe('a rulebook as it is written', () => {
  it('begins with the rules in force, and gives no right to those whom they do not list', () => {
    const draft = beginningOf(KNOWN)
    expect(withEmployees(draft, [ada, ben], KNOWN)).toEqual({
      rules: [restricted, { address: ben, ...barred }],
      maxOrder: '20000.5',
      allowWithdrawShares: true,
    })
    expect(policyOf(withEmployees(draft, [ada], KNOWN), SYMBOLS)).toEqual(policy)
    expect(([ada, ben] as const).map((address) => isUncovered(KNOWN, address))).toEqual([false, true])
  })

  it('the first one begins with the right to buy and sell, and none to withdraw shares', () => {
    expect([isUnknown(FIRST), isUncovered(FIRST, ada)]).toEqual([false, false])
    expect(withEmployees(beginningOf(FIRST), [ada], FIRST)).toEqual({
      rules: [{ address: ada, ...free }],
      maxOrder: '25000',
      allowWithdrawShares: false,
    })
  })

  it('has a line for each member, in their order, and keeps what was written', () => {
    const draft = withRules(withRules(beginningOf(FIRST), { ...restricted, canSell: false }), restricted)
    expect(draft.rules).toEqual([restricted])
    expect(withEmployees(draft, [ben, ada], FIRST).rules).toEqual([{ address: ben, ...free }, restricted])
    expect(withEmployees(draft, [ben], FIRST).rules.map(({ address }) => address)).toEqual([ben])
  })

  it('becomes a policy under lower-case addresses, its amount in base units', () => {
    const draft = { ...withRules(beginningOf(FIRST), restricted), maxOrder: ' 25,000.5 ' }
    expect(policyOf(draft, SYMBOLS)).toEqual({
      employees: { [ada.toLowerCase()]: ofAda },
      maxOrderNotional: 25_000_500_000n,
      allowWithdrawShares: false,
    })
  })

  it('restricts no symbol that is not listed any more, since the enclave would refuse it', () => {
    const draft = withEmployees(beginningOf(KNOWN), [ada], KNOWN)
    expect(policyOf(draft, ['AAPL'])?.employees[ada.toLowerCase()]).toMatchObject({ restricted: [] })
  })

  it('takes from a file what it says of an employee, and leaves the rest', () => {
    const imported = (...rows: Parameters<typeof withImported>[1]) =>
      withImported(beginningOf(KNOWN), rows, KNOWN).rules
    expect(imported({ address: ada, canBuy: true })).toEqual([{ ...restricted, canBuy: true }])
    expect(imported({ address: ada, restricted: [] })).toEqual([{ ...restricted, restricted: [] }])
    const ofBen = { address: ben, canSell: false, restricted: ['TSLA'] } as const
    expect(imported(ofBen)).toEqual([{ ...free, ...ofBen }])
    const edited = withRules(beginningOf(KNOWN), { address: ada, ...free })
    expect(withImported(edited, [{ address: ada, canSell: false }], KNOWN).rules).toEqual([
      { address: ada, ...free, canSell: false },
    ])
  })

  it.each(['', 'much', '-1', '1.1234567', '1e6', '99,50', '1,5', '1,00'])(
    'is none with "%s" as the largest order',
    (maxOrder) => {
      expect(policyOf({ ...beginningOf(FIRST), maxOrder }, SYMBOLS)).toBeNull()
    },
  )
})
