// A file of employees, and what it makes of a rulebook.
import { expect, it } from 'vitest'
import { exceptionsOf, readEmployeeFile, rulesOfRows } from '../../src/client/admin.js'
import type { Policy } from '../../src/client/index.js'
import { encodePolicy } from '../../src/protocol/compactPolicy.js'

const [ADA, BEN] = [
  '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
  '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
]
const [ada, ben, cleo] = [ADA.toLowerCase(), BEN.toLowerCase(), `0x${'c1'.repeat(20)}`]
const KNOWN = { symbols: ['AAPL', 'TSLA'], groups: ['Research'] }
const read = (...lines: string[]) => readEmployeeFile(lines.join('\r\n'), KNOWN)

it('a file of employees gives names, rights, restrictions and groups', async () => {
  const lines = [
    `${ADA},"Lovelace, Ada",yes,NO,tsla AAPL TSLA,`,
    `${ben},,1,false,,`,
    `${cleo},,,,, Research `,
  ]
  expect(await read('Wallet,name,BUY,sell,restricted,group', ...lines)).toEqual({
    rows: [
      { address: ADA, name: 'Lovelace, Ada', canBuy: true, canSell: false, restricted: ['AAPL', 'TSLA'] },
      { address: BEN, canBuy: true, canSell: false, restricted: [] },
      { address: expect.stringMatching(/^0xc1/i), group: 'Research' },
    ],
    faults: [],
  })
  const { rows } = await read('restricted;wallet', `TSLA, AAPL;${ADA}`)
  expect(rows).toEqual([{ address: ADA, restricted: ['AAPL', 'TSLA'] }])
  expect((await read('wallet', ADA)).rows).toEqual([{ address: ADA }])
})

it.each([
  ['0x12,,yes,,', '“0x12” is not an address: enter 0x and 40 hex digits.'],
  [`${ADA.replace('F', 'f')},,yes,,`, 'has a typo: its capital letters do not match its digits (EIP-55).'],
  [`${ADA},,maybe,,`, '“maybe” in the column buy is neither yes nor no.'],
  [`${ADA},,,,`, '“” in the column buy is neither yes nor no.'],
  [`${ADA},${'x'.repeat(61)},yes,,`, 'The name is longer than 60 characters, or has a line break.'],
  [`${ADA},Andr\ufffd,yes,,`, 'The name has characters that are not UTF-8. Save the file as “CSV UTF-8”.'],
  [`${ADA},Ada`, 'It has 2 cells, but the first line names 5 columns.'],
  [`${ADA},Ada,yes,TSLA,,`, 'It has 6 cells, but the first line names 5 columns.'],
  [`${ADA},,yes,GOOG,`, '“GOOG” is not a listed symbol.'],
  [`${ben},,yes,,`, 'Line 2 has the same wallet.'],
  [`${ADA},,,,Desk`, '“Desk” is not a group of the rulebook.'],
  [`${ADA},,no,,Research`, 'names the group “Research” and rules of its own'],
])('a file of employees names a bad row by its line and the reason: %s', async (row, reason) => {
  const { rows, faults } = await read('wallet,name,buy,restricted,group', `${BEN},Ben,no,,`, row)
  expect(rows).toEqual([{ address: BEN, name: 'Ben', canBuy: false, restricted: [] }])
  expect(faults).toEqual([{ line: 3, reason: expect.stringContaining(reason) }])
})

it.each([
  ['an .xlsx or .ods file', 'PK\u0003\u0004\u0014'],
  ['an .xls file', '\ufffd\ufffd\u0011\u0871\u001a\ufffd\0\0'],
  ['UTF-16', '\ufffd\ufffdw\0a\0l\0l\0e\0t\0'],
])('a file that is %s is refused as a whole, with the way to a CSV file', async (_what, text) => {
  const reason = expect.stringMatching(/^This is not a CSV file\. .* save it as “CSV UTF-8”/)
  expect(await readEmployeeFile(text, KNOWN)).toEqual({ rows: [], faults: [{ line: null, reason }] })
})

const manyRows = Array.from({ length: 50_001 }, () => ADA)
it.each<[string, string[], line: number, reason: RegExp]>([
  ['nothing in it', [''], 1, /^The file is empty\. The first line must name the columns: wallet, name, buy,/],
  ['an unknown column', ['wallet,restrictd', `${ADA},TSLA`], 1, /^“restrictd” is not a column/],
  ['no wallets', ['name', 'Ada'], 1, /Only wallet is required/],
  ['a column twice', ['wallet,name,name', `${ADA},a,b`], 1, /^The column name appears twice/],
  ['no employees', ['wallet'], 2, /^The file has no employees/],
  ['an open quotation mark', ['wallet,name', `${ADA},"Ada`], 2, /^A quotation mark is not closed/],
  ['too many rows', ['wallet', ...manyRows], 1, /^The file has more than 50000 rows\.$/],
  ['too many characters', ['wallet', 'a'.repeat(10_000_000)], 1, /^The file is longer than 8 MB\.$/],
])('a file with %s is refused as a whole', async (_what, lines, line, reason) => {
  const { rows, faults } = await read(...lines)
  expect({ rows, faults }).toEqual({ rows: [], faults: [{ line, reason: expect.stringMatching(reason) }] })
})

const free = { canBuy: true, canSell: true, restricted: [] }
const research = { canBuy: true, canSell: false, restricted: ['TSLA'] }
const policy: Policy = {
  employees: { [ada]: { canBuy: false, canSell: true, restricted: ['AAPL'] }, [ben]: { group: 'Research' } },
  groups: { Research: research },
  default: { canBuy: false, canSell: true, restricted: [] },
  maxOrderNotional: 1n,
  allowWithdrawShares: false,
}
const { default: _, ...withoutDefault } = policy

/** The rules that a file of these lines makes of the rulebook. */
async function rulesOf(lines: readonly string[], of: Omit<Policy, 'maxOrderNotional'> = policy) {
  const { rows, faults } = await read(...lines)
  expect(faults).toEqual([])
  return rulesOfRows(rows, of)
}

it('a file of employees changes what a row says, and takes the rest from the rulebook, its groups and its default', async () => {
  expect(await rulesOf(['wallet', ada, ben, cleo])).toEqual({ ...policy.employees, [cleo]: policy.default })
  expect(await rulesOf(['wallet,buy', `${ada},yes`, `${ben},no`, `${cleo},yes`])).toEqual({
    [ada]: { canBuy: true, canSell: true, restricted: ['AAPL'] },
    [ben]: { ...research, canBuy: false },
    [cleo]: free,
  })
  expect(await rulesOf(['wallet,group', `${ada},Research`])).toEqual({ [ada]: { group: 'Research' } })
  // No rule is known of it.
  const unknown = await rulesOf(['wallet,restricted', `${cleo},TSLA`], withoutDefault)
  expect(unknown).toEqual({ [cleo]: { ...free, restricted: ['TSLA'] } })
})

const own = { canBuy: true, canSell: true, restricted: ['AAPL', 'TSLA'] }
const asDefault = { ...own, restricted: ['TSLA', 'AAPL'] }
it.each<[string, Policy['default'], Policy['employees'], left: string[]]>([
  ['a group', { group: 'Research' }, { [ada]: research, [ben]: { group: 'Research' } }, [ada]],
  ['another group', { group: 'Desk' }, { [ada]: { group: 'Desk' }, [ben]: { group: 'Research' } }, [ben]],
  ['rules', own, { [ada]: asDefault, [ben]: research, [cleo]: { group: 'Research' } }, [ben, cleo]],
  ['looser rules', own, { [ada]: { ...own, restricted: ['AAPL', 'MSFT', 'TSLA'] } }, [ada]],
  ['stricter rules', own, { [ada]: { ...own, restricted: ['TSLA'] } }, [ada]],
  // Without a default an unlisted member is refused, so nobody is left out.
  ['nothing', undefined, { [ada]: asDefault, [cleo]: { group: 'Research' } }, [ada, cleo]],
])(
  'a rulebook of exceptions leaves out those who have the default unlisted too: %s',
  (_what, byDefault, employees, left) => {
    const groups = { Desk: free, Research: research }
    const whole = { ...withoutDefault, groups, ...(byDefault && { default: byDefault }), employees }
    const kept = Object.entries(employees).filter(([wallet]) => left.includes(wallet))
    expect(exceptionsOf(whole)).toEqual({ ...whole, employees: Object.fromEntries(kept) })
  },
)

it('a rulebook of exceptions has the length of its exceptions, however many employees the file has', async () => {
  const rows = Array.from({ length: 10_000 }, (_, at) => `0x${at.toString(16).padStart(40, '0')},no,yes,`)
  const employees = await rulesOf(['wallet,buy,sell,restricted', ...rows, `${ada},yes,yes,`])
  expect(encodePolicy({ ...policy, employees }).length).toBeGreaterThan(200_000)
  expect(encodePolicy(exceptionsOf({ ...policy, employees })).length).toBe(1_024)
})
