import { describe, expect, it } from 'vitest'
import { readEmployeeFile } from '../../src/client/employeeFile.js'

const ada = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'
const ben = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65'
const KNOWN = { symbols: ['AAPL', 'TSLA'], groups: ['Research'] }
const read = (...lines: string[]) => readEmployeeFile(lines.join('\r\n'), KNOWN)

describe('a file of employees', () => {
  it('gives names, rights and restrictions', async () => {
    const lines = [`${ada},"Lovelace, Ada",yes,NO,tsla AAPL TSLA`, `${ben.toLowerCase()},,1,false,`]
    expect(await read('Wallet,name,BUY,sell,restricted', ...lines)).toEqual({
      rows: [
        { address: ada, name: 'Lovelace, Ada', canBuy: true, canSell: false, restricted: ['AAPL', 'TSLA'] },
        { address: ben, canBuy: true, canSell: false, restricted: [] },
      ],
      faults: [],
    })
  })

  it('may leave out every column but the wallet, and be separated by semicolons', async () => {
    expect((await read('restricted;wallet', `TSLA, AAPL;${ada}`)).rows).toEqual([
      { address: ada, restricted: ['AAPL', 'TSLA'] },
    ])
    expect((await read('wallet', ada)).rows).toEqual([{ address: ada }])
  })

  it.each([
    ['0x12,,yes', '“0x12” is not an address: enter 0x and 40 hex digits.'],
    [`${ada.replace('F', 'f')},,yes`, 'has a typo: its capital letters do not match its digits (EIP-55).'],
    [`${ada},,maybe`, '“maybe” in the column buy is neither yes nor no.'],
    [`${ada},,`, '“” in the column buy is neither yes nor no.'],
    [`${ada},${'x'.repeat(61)},yes`, 'The name is longer than 60 characters, or has a line break.'],
    [`${ada},Andr\ufffd,yes`, 'The name has characters that are not UTF-8. Save the file as “CSV UTF-8”.'],
    [`${ada},Ada`, 'It has 2 cells, but the first line names 3 columns.'],
    [`${ada},Ada,yes,TSLA`, 'It has 4 cells, but the first line names 3 columns.'],
  ])('names a bad row by its line and the reason: %s', async (row, reason) => {
    const { rows, faults } = await read('wallet,name,buy', `${ben},Ben,no`, row)
    expect(rows).toEqual([{ address: ben, name: 'Ben', canBuy: false }])
    expect(faults).toEqual([{ line: 3, reason: expect.stringContaining(reason) }])
  })

  it('names a symbol that is not listed, and a wallet that an earlier line has', async () => {
    const file = await read('wallet,restricted', `${ada},GOOG`, `${ben},TSLA`, `${ben.toLowerCase()},`)
    expect(file.faults).toEqual([
      { line: 2, reason: '“GOOG” is not a listed symbol.' },
      { line: 4, reason: 'Line 3 has the same wallet.' },
    ])
    expect(file.rows).toEqual([{ address: ben, restricted: ['TSLA'] }])
  })

  it('may give a wallet a group of the rulebook, in place of rules of its own', async () => {
    const lines = [`${ada},,, Research `, `${ben},yes,TSLA,`, `${ada},,,Desk`, `${ada},no,,Research`]
    const { rows, faults } = await read('wallet,buy,restricted,group', ...lines)
    expect(rows).toEqual([
      { address: ada, group: 'Research' },
      { address: ben, canBuy: true, restricted: ['TSLA'] },
    ])
    expect(faults).toEqual([
      { line: 4, reason: '“Desk” is not a group of the rulebook.' },
      { line: 5, reason: expect.stringContaining('names the group “Research” and rules of its own') },
    ])
  })

  it.each([
    ['an .xlsx or .ods file', 'PK\u0003\u0004\u0014'],
    ['an .xls file', '\ufffd\ufffd\u0011\u0871\u001a\ufffd\0\0'],
    ['UTF-16', '\ufffd\ufffdw\0a\0l\0l\0e\0t\0'],
  ])('a file that is %s is refused as a whole, with the way to a CSV file', async (_what, text) => {
    const reason =
      'This is not a CSV file. In your spreadsheet, save it as “CSV UTF-8”, and choose that file.'
    expect(await readEmployeeFile(text, KNOWN)).toEqual({ rows: [], faults: [{ line: null, reason }] })
  })

  it.each([
    [
      [''],
      1,
      /^The file is empty\. The first line must name the columns: wallet, name, buy, sell, restricted, group\. Only/,
    ],
    [['wallet,restrictd', `${ada},TSLA`], 1, /^“restrictd” is not a column/],
    [['name', 'Ada'], 1, /Only wallet is required/],
    [['wallet,name,name', `${ada},a,b`], 1, /^The column name appears twice/],
    [['wallet'], 2, /^The file has no employees/],
    [['wallet,name', `${ada},"Ada`], 2, /^A quotation mark is not closed/],
  ])('is refused as a whole: %j', async (lines, line, reason) => {
    const { rows, faults } = await read(...lines)
    expect(rows).toEqual([])
    expect(faults).toEqual([{ line, reason: expect.stringMatching(reason) }])
  })

  it('is refused as a whole where it has more rows than an institution has employees', async () => {
    const reason = 'The file has more than 50000 rows.'
    const file = await read('wallet', ...Array.from({ length: 50_001 }, () => ada))
    expect(file).toEqual({ rows: [], faults: [{ line: 1, reason }] })
    const { faults } = await read('wallet', `"${'a'.repeat(10_000_000)}`)
    expect(faults).toEqual([{ line: 1, reason: 'The file is longer than 8 MB.' }])
  })
})
