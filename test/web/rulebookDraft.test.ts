import { describe, expect, it } from 'vitest'
import { EMPTY_DRAFT, policyOf, withEmployees, withRules } from '../../web/institution/rulebookDraft.js'

const ada = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'
const ben = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65'
const restricted = { address: ada, canBuy: false, canSell: true, restricted: ['TSLA'] } as const

describe('a rulebook as it is written', () => {
  it('has a line for each member, allows everything at first, and keeps what was written', () => {
    const draft = withRules(withEmployees(EMPTY_DRAFT, [ada]), restricted)
    expect(withEmployees(draft, [ada, ben]).rules).toEqual([
      restricted,
      { address: ben, canBuy: true, canSell: true, restricted: [] },
    ])
    expect(withEmployees(draft, [ben]).rules.map(({ address }) => address)).toEqual([ben])
  })

  it('keeps what was written of a member while the others are read, in the order of the members', () => {
    const draft = withRules(withRules(EMPTY_DRAFT, { ...restricted, canSell: false }), restricted)
    expect(draft.rules).toEqual([restricted])
    expect(withEmployees(draft, [ben, ada]).rules.map(({ address }) => address)).toEqual([ben, ada])
  })

  it('becomes a policy under lower-case addresses, its amount in base units', () => {
    const draft = { ...withRules(withEmployees(EMPTY_DRAFT, [ada]), restricted), maxOrder: ' 25,000.5 ' }
    expect(policyOf(draft)).toEqual({
      employees: { [ada.toLowerCase()]: { canBuy: false, canSell: true, restricted: ['TSLA'] } },
      maxOrderNotional: 25_000_500_000n,
      allowWithdrawShares: true,
    })
  })

  it.each(['', 'much', '-1', '1.1234567', '1e6', '99,50', '1,5', '1,00'])(
    'is none with "%s" as the largest order',
    (maxOrder) => {
      expect(policyOf({ ...EMPTY_DRAFT, maxOrder })).toBeNull()
    },
  )
})
