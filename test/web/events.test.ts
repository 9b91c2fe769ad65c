import { encodeBytes32String, Interface, type InterfaceAbi } from 'ethers'
import { describe, expect, it } from 'vitest'
import { authorityAbi } from '../../src/chain/generated/authorityAbi.js'
import { confidentialLedgerAbi } from '../../src/chain/generated/confidentialLedgerAbi.js'
import { equitySharesAbi } from '../../src/chain/generated/equitySharesAbi.js'
import { equityTokenAbi } from '../../src/chain/generated/equityTokenAbi.js'
import { institutionRegistryAbi } from '../../src/chain/generated/institutionRegistryAbi.js'
import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'
import { platformPoolAbi } from '../../src/chain/generated/platformPoolAbi.js'
import { interfaces } from '../../src/chain/interfaces.js'
import { EVENT_NAMES } from '../../src/server/narrator/events.js'
import { eventWords } from '../../web/words/events.js'

const wallet = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'
const [org, aapl, usdc] = ['Example Capital', 'AAPL', 'USDC'].map(encodeBytes32String)
const id = `0x${'ab'.repeat(32)}`

/** A value of each type that our events have, besides numbers. */
const VALUES: Record<string, unknown> = { bytes32: org, address: wallet, bool: true }

const log = (abi: InterfaceAbi, event: string, values: unknown[]) =>
  new Interface(abi).encodeEventLog(event, values)

describe('an event of the contracts in words', () => {
  it.each([
    [
      institutionRegistryAbi,
      'InstitutionRegistered',
      [org, wallet],
      'registry',
      'Example Capital was founded by 0x90F7…b906',
    ],
    [
      institutionRegistryAbi,
      'AdminTransferred',
      [org, wallet, wallet],
      'registry',
      'Example Capital has the admin 0x90F7…b906 now',
    ],
    [
      institutionRegistryAbi,
      'MemberUpdated',
      [org, wallet, true],
      'registry',
      '0x90F7…b906 joined Example Capital',
    ],
    [
      institutionRegistryAbi,
      'MemberUpdated',
      [org, wallet, false],
      'registry',
      '0x90F7…b906 was invited to, or left, Example Capital',
    ],
    [
      orderEscrowAbi,
      'OrderOpened',
      [id, wallet, 1_000_000_000n, 1n, id],
      'escrow',
      'Order 0xabab…abab opened: 1,000.00 USDC in escrow',
    ],
    [
      orderEscrowAbi,
      'OrderOpened',
      [id, wallet, 0n, 1n, id],
      'escrow',
      'Order 0xabab…abab opened: a request, no amount shown',
    ],
    [orderEscrowAbi, 'OrderSettled', [id, 1n, aapl, 0n], 'escrow', 'Order 0xabab…abab settled'],
    [
      orderEscrowAbi,
      'OrderSettled',
      [id, 1n, usdc, 2_500_000n],
      'escrow',
      'Order 0xabab…abab settled, 2.50 USDC paid out',
    ],
    [
      orderEscrowAbi,
      'OrderSettled',
      [id, 1n, aapl, 2_500_000_000n],
      'escrow',
      'Order 0xabab…abab settled, 2.5 AAPL paid out',
    ],
    [
      orderEscrowAbi,
      'OrderRefunded',
      [id, wallet, 1_000_000n],
      'escrow',
      'Order 0xabab…abab refunded: 1.00 USDC',
    ],
    [confidentialLedgerAbi, 'PortfolioUpdated', [id, 4n], 'ledger', 'A portfolio was written, version 4'],
    [confidentialLedgerAbi, 'PolicyUpdated', [org, 2n], 'ledger', 'Example Capital has rulebook version 2'],
    [equityTokenAbi, 'KycUpdated', [wallet, true], 'token', '0x90F7…b906 is verified'],
    [equityTokenAbi, 'KycUpdated', [wallet, false], 'token', '0x90F7…b906 is no longer verified'],
    [equityTokenAbi, 'ListingUpdated', [aapl, false], 'token', 'AAPL is no longer listed'],
    [equityTokenAbi, 'FreezeUpdated', [aapl, wallet, true], 'token', 'AAPL of 0x90F7…b906 is frozen'],
    [
      platformPoolAbi,
      'BatchMinted',
      [aapl, 1_000_000_000n, 3_000_000_000n],
      'pool',
      '1 AAPL minted, 3 in all',
    ],
    [platformPoolAbi, 'BatchBurned', [aapl, 1_000_000_000n, 2_000_000_000n], 'pool', '1 AAPL burned, 2 left'],
  ])('%#: %s', (abi, event, values, tag, says) => {
    expect(eventWords(log(abi, event, values))).toEqual({ tag, says })
  })

  it.each(EVENT_NAMES)('%s has a sentence, because the server narrates it', (name) => {
    const events = Object.values(interfaces).find((each) => each.hasEvent(name))
    const fragment = events?.getEvent(name)
    const values = fragment?.inputs.map(({ type }) => VALUES[type] ?? 1n) ?? []
    expect(eventWords(log(events?.fragments ?? [], name, values)), 'web/words/events.ts').not.toBeNull()
  })

  it('is left out when it is none of ours, or not narrated', () => {
    expect(eventWords(log(orderEscrowAbi, 'ClaimMade', [wallet, usdc, 1n]))).toBeNull()
    expect(eventWords(log(authorityAbi, 'Paused', [1n]))).toBeNull()
    expect(eventWords(log(equitySharesAbi, 'Transfer', [wallet, wallet, 1n]))).toBeNull()
  })
})
