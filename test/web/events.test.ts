import { encodeBytes32String, Interface, type ParamType } from 'ethers'
import { expect, it } from 'vitest'
import { equitySharesAbi } from '../../src/chain/generated/equitySharesAbi.js'
import { interfaces } from '../../src/chain/interfaces.js'
import { EVENT_NAMES } from '../../src/server/narrator/events.js'
import { eventWords } from '../../web/words/events.js'

const wallet = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'
const [org, aapl, usdc] = ['Example Capital', 'AAPL', 'USDC'].map(encodeBytes32String)
const PORTFOLIO = 'portfolio of 0x90F7…b906 to 0x90F7…b906'
const CLAIM_PAID = 'escrow: A claim of 0x90F7…b906 was paid to 0x90F7…b906: 2.50 USDC'
const id = `0x${'ab'.repeat(32)}`

/** A value of each type that our events have, besides numbers. */
const VALUES: Record<string, unknown> = { bytes32: org, bytes: '0x02', address: wallet, bool: true }

/** A log of the contract that has the event. */
function logOf(name: string, values?: readonly unknown[]) {
  const contract = Object.values(interfaces).find((each) => each.hasEvent(name))
  const inputs = contract?.getEvent(name)?.inputs ?? []
  const exampleOf = ({ type, components }: ParamType): unknown =>
    components?.map(exampleOf) ?? VALUES[type] ?? 1n
  const given = values ?? inputs.map(exampleOf)
  return new Interface(contract?.fragments ?? []).encodeEventLog(name, given)
}

const ORDER = 'escrow: Order 0xabab…abab'

it.each([
  ['MemberUpdated', [org, wallet, true], 'registry: 0x90F7…b906 joined Example Capital'],
  ['MemberUpdated', [org, wallet, false], 'registry: 0x90F7…b906 was invited to, or left, Example Capital'],
  ['OrderOpened', [id, wallet, 9_000_000n, 1n, id], `${ORDER} opened: 9.00 USDC in escrow`],
  ['OrderOpened', [id, wallet, 0n, 1n, id], `${ORDER} opened: a request, no amount shown`],
  ['OrderSettled', [id, wallet, 1n, usdc, 2_500_000n], `${ORDER} settled, 2.50 USDC paid out`],
  ['OrderSettled', [id, wallet, 1n, aapl, 2_500_000_000n], `${ORDER} settled, 2.5 AAPL paid out`],
  ['OrderSettled', [id, wallet, 1n, aapl, 0n], `${ORDER} settled`],
  ['AdmissionUpdated', [org, wallet, false], 'registry: Example Capital of 0x90F7…b906 is suspended'],
  ['ClaimPaid', [wallet, usdc, wallet, 2_500_000n], CLAIM_PAID],
  ['PortfolioMoved', [wallet, wallet, 0n], `ledger: The ${PORTFOLIO} has moved`],
])('the event %s is said in words %#', (name, values, words) => {
  const { tag, says } = eventWords(logOf(name, values)) ?? {}
  expect(`${tag}: ${says}`).toBe(words)
})

it.each(EVENT_NAMES)('the event %s has a sentence, because the narrator knows it', (name) => {
  expect(eventWords(logOf(name)), 'web/words/events.ts').not.toBeNull()
})

it('an event that the contracts do not declare themselves is left out', () => {
  const transfer = new Interface(equitySharesAbi).encodeEventLog('Transfer', [wallet, wallet, 1n])
  expect(eventWords(transfer)).toBeNull()
})
