// An institution of ten thousand: from its admin's client to the chain, by the real server and enclave, and what its rules then forbid.
import { expect, it } from 'vitest'
import type { Policy } from '../../src/client/index.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { ONE_USDC } from '../../src/protocol/units.js'
import { EQUITIES, INSTITUTION } from '../../src/sandbox/settings.js'
import { useDesk } from './support/desk.js'

const ORG = nameToBytes32(INSTITUTION)
const SYMBOLS = EQUITIES.map(({ symbol }) => symbol)
const desk = useDesk()

/** A rulebook of so many employees with rules of their own, and the desk's. */
function rulebookOf(count: number, ofDesk: Policy['employees']): Policy {
  const employees: Policy['employees'] = {}
  for (let at = 1; at <= count; at++) {
    const restricted = [0, 1, 2].map((step) => SYMBOLS[(at + step) % SYMBOLS.length] ?? '')
    employees[`0x${at.toString(16).padStart(40, '0')}`] = { canBuy: at % 2 === 0, canSell: true, restricted }
  }
  return {
    employees: { ...employees, ...ofDesk },
    default: { group: 'Desk' },
    groups: { Desk: { canBuy: true, canSell: true, restricted: ['TSLA'] } },
    maxOrderNotional: 25_000n * ONE_USDC,
    allowWithdrawShares: true,
  }
}

it('ten thousand employees with rules of their own are published in parts, take force at once, and are obeyed', async () => {
  const { admin, traders, contracts } = desk()
  const [ada, ben, cleo] = traders
  const policy = rulebookOf(10_000, {
    [ada.account.address.toLowerCase()]: { canBuy: false, canSell: true, restricted: [] },
    [ben.account.address.toLowerCase()]: { canBuy: true, canSell: true, restricted: [] },
  })
  const { version, copy } = await admin.publishRulebook(policy)
  expect(version).toBe(2)
  expect(await contracts.ledger.policyVersion(ORG)).toBe(2)
  expect(await admin.openRulebookCopy(copy, 2)).toEqual(policy)
  const bought = { side: 'BUY', maxSpend: 100n * ONE_USDC } as const
  const [refused, settled, restricted] = await Promise.all([
    ada.trade({ ...bought, symbol: 'AAPL' }),
    ben.trade({ ...bought, symbol: 'TSLA' }),
    // No line of the rulebook names her: she has the default.
    cleo.trade({ ...bought, symbol: 'TSLA' }),
  ])
  expect(await ada.reason(refused)).toBe('not-permitted')
  expect(settled.state).toBe('SETTLED')
  expect(await cleo.reason(restricted)).toBe('restricted-symbol')
  expect((await cleo.trade({ ...bought, symbol: 'AAPL' })).state).toBe('SETTLED')
})
