import { describe, expect, it } from 'vitest'
import { exceptionsOf, readEmployeeFile, rulesOfRows } from '../../src/client/admin.js'
import type { Policy } from '../../src/client/index.js'
import { encodePolicy } from '../../src/protocol/compactPolicy.js'

const ada = '0x90f79bf6eb2c4f870365e785982e1f101e93b906'
const ben = '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65'
const cleo = `0x${'c1'.repeat(20)}`
const free = { canBuy: true, canSell: true, restricted: [] }
const research = { canBuy: true, canSell: false, restricted: ['TSLA'] }
const policy: Policy = {
  employees: { [ada]: { canBuy: false, canSell: true, restricted: ['AAPL'] }, [ben]: { group: 'Research' } },
  groups: { Research: research },
  default: { canBuy: false, canSell: true, restricted: [] },
  maxOrderNotional: 1n,
  allowWithdrawShares: false,
}

/** The rules that a file of these lines makes of the rulebook. */
async function rulesOf(lines: readonly string[], of: Omit<Policy, 'maxOrderNotional'> = policy) {
  const file = await readEmployeeFile(lines.join('\n'), { symbols: ['AAPL', 'TSLA'], groups: ['Research'] })
  expect(file.faults).toEqual([])
  return rulesOfRows(file.rows, of)
}

describe('a file of employees', () => {
  it('changes what a row says, and takes the rest from the rulebook, its groups and its default', async () => {
    expect(await rulesOf(['wallet', ada, ben, cleo])).toEqual({ ...policy.employees, [cleo]: policy.default })
    expect(await rulesOf(['wallet,buy', `${ada},yes`, `${ben},no`, `${cleo},yes`])).toEqual({
      [ada]: { canBuy: true, canSell: true, restricted: ['AAPL'] },
      [ben]: { ...research, canBuy: false },
      [cleo]: free,
    })
    expect(await rulesOf(['wallet,group', `${ada},Research`])).toEqual({ [ada]: { group: 'Research' } })
  })

  it('lets a wallet buy and sell that no rule is known of', async () => {
    const { default: _, ...without } = policy
    expect(await rulesOf(['wallet,restricted', `${cleo},TSLA`], without)).toEqual({
      [cleo]: { ...free, restricted: ['TSLA'] },
    })
  })
})

describe('a rulebook of exceptions', () => {
  it('leaves out the employees who have the default unlisted too, and no other', async () => {
    const byGroup = { ...policy, default: { group: 'Research' } }
    expect(
      exceptionsOf({ ...byGroup, employees: { [ada]: research, [ben]: { group: 'Research' } } }),
    ).toEqual({
      ...byGroup,
      employees: { [ada]: research },
    })
    const own = { canBuy: true, canSell: true, restricted: ['AAPL', 'TSLA'] }
    const employees = {
      [ada]: { ...own, restricted: ['TSLA', 'AAPL'] },
      [ben]: { ...own, restricted: ['TSLA'] },
      [cleo]: { group: 'Research' },
    }
    const left = exceptionsOf({ ...policy, default: own, employees }).employees
    expect(Object.keys(left)).toEqual([ben, cleo])
    // Nor is a stricter rule the default's, or another group.
    const stricter = { [ada]: { ...own, restricted: ['AAPL', 'MSFT', 'TSLA'] } }
    expect(exceptionsOf({ ...policy, default: own, employees: stricter }).employees).toEqual(stricter)
    const groups = { Desk: free, Research: research }
    const others = { [ben]: { group: 'Research' } }
    expect(
      exceptionsOf({ ...policy, groups, default: { group: 'Desk' }, employees: others }).employees,
    ).toEqual(others)
    // Without a default an unlisted member is refused, so nobody is left out.
    const { default: _, ...without } = policy
    expect(exceptionsOf({ ...without, employees })).toEqual({ ...without, employees })
  })

  it('has the length of its exceptions, however many employees the file has', async () => {
    const rows = Array.from({ length: 10_000 }, (_, at) => `0x${at.toString(16).padStart(40, '0')},no,yes,`)
    const employees = await rulesOf(['wallet,buy,sell,restricted', ...rows, `${ada},yes,yes,`])
    expect(encodePolicy({ ...policy, employees }).length).toBeGreaterThan(200_000)
    expect(encodePolicy(exceptionsOf({ ...policy, employees })).length).toBe(1_024)
  })
})
