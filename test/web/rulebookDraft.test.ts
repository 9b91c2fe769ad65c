import { describe, expect, it } from 'vitest'
import type { Policy, Rule } from '../../src/protocol/policy.js'
import {
  beginningOf,
  groupNameFault,
  isUncovered,
  isUnknown,
  maxOrderOf,
  policyOf,
  type RulebookDraft,
  withEmployees,
  withImported,
  withoutGroup,
  withRules,
} from '../../web/rulebooks/rulebookDraft.js'

const ada = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'
const ben = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65'
const free = { canBuy: true, canSell: true, restricted: [] }
const barred = { canBuy: false, canSell: false, restricted: [] }
const ofAda = { canBuy: false, canSell: true, restricted: ['TSLA'] }
const restricted = { address: ada, rule: ofAda } as const
const lineOf = (address: typeof ada | typeof ben, rule: Rule) => ({ address, rule })
const policy: Policy = {
  employees: { [ada.toLowerCase()]: ofAda },
  maxOrderNotional: 20_000_500_000n,
  allowWithdrawShares: true,
}
const SYMBOLS = ['AAPL', 'TSLA']
const FIRST = { version: 0, policy: null }
const KNOWN = { version: 2, policy }

const made = (draft: RulebookDraft, symbols = SYMBOLS) => policyOf(draft, maxOrderOf(draft) ?? 0n, symbols)

describe('a rulebook as it is written', () => {
  it('begins with the rules in force, and gives no right to those whom they do not list', () => {
    const draft = beginningOf(KNOWN)
    expect(withEmployees(draft, [ada, ben], KNOWN)).toEqual({
      ...{ rules: [restricted, lineOf(ben, barred)], groups: {}, byDefault: null },
      ...{ maxOrder: '20000.5', allowWithdrawShares: true },
    })
    expect(made(withEmployees(draft, [ada], KNOWN))).toEqual(policy)
    expect(([ada, ben] as const).map((address) => isUncovered(KNOWN, address))).toEqual([false, true])
  })

  it('the first one begins with the right to buy and sell, and none to withdraw shares', () => {
    expect([isUnknown(FIRST), isUncovered(FIRST, ada)]).toEqual([false, false])
    expect(withEmployees(beginningOf(FIRST), [ada], FIRST)).toEqual({
      ...{ rules: [lineOf(ada, free)], groups: {}, byDefault: null },
      ...{ maxOrder: '25000', allowWithdrawShares: false },
    })
  })

  it('has a line for each member, in their order, and keeps what was written', () => {
    const draft = withRules(withRules(beginningOf(FIRST), lineOf(ada, barred)), restricted)
    expect(draft.rules).toEqual([restricted])
    expect(withEmployees(draft, [ben, ada], FIRST).rules).toEqual([lineOf(ben, free), restricted])
    expect(withEmployees(draft, [ben], FIRST).rules.map(({ address }) => address)).toEqual([ben])
  })

  it('becomes a policy under lower-case addresses, its amount in base units', () => {
    const draft = { ...withRules(beginningOf(FIRST), restricted), maxOrder: ' 25,000.5 ' }
    expect(made(draft)).toEqual({
      employees: { [ada.toLowerCase()]: ofAda },
      maxOrderNotional: 25_000_500_000n,
      allowWithdrawShares: false,
    })
  })

  it('restricts no symbol that is not listed any more, since the enclave would refuse it', () => {
    const draft = withEmployees(beginningOf(KNOWN), [ada], KNOWN)
    expect(made(draft, ['AAPL'])?.employees[ada.toLowerCase()]).toMatchObject({ restricted: [] })
  })

  it('takes from a file what it says of an employee, and leaves the rest', () => {
    const imported = (row: Parameters<typeof withImported>[1][number], into = beginningOf(KNOWN)) =>
      withImported(into, [row], KNOWN).rules
    expect(imported({ address: ada, canBuy: true })).toEqual([lineOf(ada, { ...ofAda, canBuy: true })])
    const ofBen = { canSell: false, restricted: ['TSLA'] }
    expect(imported({ address: ben, ...ofBen })).toEqual([lineOf(ben, { ...free, ...ofBen })])
    const edited = withRules(beginningOf(KNOWN), lineOf(ada, free))
    const closed = imported({ address: ada, canSell: false }, edited)
    expect(closed).toEqual([lineOf(ada, { ...free, canSell: false })])
  })

  it('keeps groups and default, and lists only those who differ from it', () => {
    const shared: Policy = {
      ...policy,
      employees: { [ada.toLowerCase()]: { group: 'Research' } },
      groups: { Research: ofAda },
      default: free,
    }
    const inForce = { version: 2, policy: shared }
    const draft = beginningOf(inForce)
    expect(made(withEmployees(draft, [ada, ben], inForce))).toEqual(shared)
    // Ben follows the default as it is written.
    const closed = withEmployees({ ...draft, byDefault: { group: 'Research' } }, [ada, ben], inForce)
    expect(closed.rules).toEqual([ada, ben].map((address) => ({ address, rule: { group: 'Research' } })))
    expect(made(closed)?.employees).toEqual({})
    const imported = withImported(draft, [{ address: ben, group: 'Research' }], inForce)
    expect(imported.rules).toEqual([lineOf(ben, { group: 'Research' })])
    // Without their group, Ada and Ben keep its rules.
    const freed = withEmployees(withoutGroup(imported, 'Research'), [ada, ben], inForce)
    expect(freed.rules).toEqual([lineOf(ada, ofAda), lineOf(ben, ofAda)])
    expect(made(freed)?.groups).toBeUndefined()
    expect(['Research', 'é', 'Front desk'].map((name) => groupNameFault(name, draft))).toEqual([
      'There is a group of this name.',
      expect.stringContaining('letters and digits'),
      null,
    ])
  })

  it.each(['', 'much', '-1', '1.1234567', '1e6', '99,50', '1,5', '1,00'])(
    'is none with "%s" as the largest order',
    (maxOrder) => {
      expect(maxOrderOf({ maxOrder })).toBeNull()
    },
  )
})
