// Actor: Bob, an employee whom his employer has removed, and whose wallet is still cleared (KYC).
// Cost: one transaction of 76 k gas.
// Effect: he founded an institution of his own, with himself as admin and only member. He published a
// rulebook that allowed him everything, at 11.4 M of the relayer's gas, and bought what his employer forbids.
// Now: the platform's owner admits institutions. Until then its members cannot buy, through the client or the
// contract, and the relayer spends no gas on its rulebooks. Bob can sell and withdraw his holdings throughout.
import { expect, test } from 'vitest'
import { publishRulebook } from '../../src/client/admin.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { ONE_USDC } from '../../src/protocol/units.js'
import { craftRulebook } from '../e2e/support/craft.js'
import { useDesk } from '../e2e/support/desk.js'
import { callRegistry } from './support/actors.js'

const desk = useDesk()
const OWN = nameToBytes32('Bob & Co.')
const AMOUNT = 500n * ONE_USDC

test('a removed employee buys nothing in an institution that he founds, until the platform admits it', async () => {
  const { sandbox, contracts, admin, traders } = desk()
  const [, bob] = traders
  const { address } = bob.account
  const relayerNonce = () => sandbox.provider.getTransactionCount(sandbox.accounts.relayer.address)
  const view = () => expect.poll(() => bob.client.getWallet(address))
  expect((await bob.trade({ side: 'BUY', symbol: 'AAPL', usdc: AMOUNT })).state).toBe('SETTLED')
  await admin.removeMember(address)

  await bob.client.foundInstitution('Bob & Co.')
  await view().toMatchObject({
    screen: 'wait',
    role: 'founder',
    orgId: OWN,
    waitingFor: ['admission', 'policy'],
  })
  const buy = { side: 'BUY', symbol: 'TSLA', usdc: AMOUNT } as const
  await expect(bob.send(buy)).rejects.toMatchObject({ name: 'ContractError', code: 'NotAdmitted' })

  // A rulebook of his own, past the client, which would not send it.
  const spent = await relayerNonce()
  const rulebook = await craftRulebook(desk(), 1, { orgId: OWN, admin: bob.account })
  const answer = await fetch(`${sandbox.info.url}/policy`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(rulebook),
  })
  expect([answer.status, (await answer.json()).code]).toEqual([422, 'policy-rejected'])
  expect(await contracts.ledger.policyVersion(OWN)).toBe(0)
  expect(await relayerNonce()).toBe(spent)

  // He can still sell and withdraw his own.
  expect((await bob.trade({ side: 'SELL', symbol: 'AAPL', usdc: 100n * ONE_USDC })).state).toBe('SETTLED')
  expect((await bob.trade({ side: 'WITHDRAW', usdc: 50n * ONE_USDC })).state).toBe('SETTLED')

  // A founding reserves no name: the platform admits whom it chooses, and Bob's may be the one.
  expect(await callRegistry(desk(), sandbox.accounts.owner, 'setAdmitted', [OWN, address, true])).toBe(true)
  await view().toMatchObject({ screen: 'wait', waitingFor: ['policy'] })
  await publishRulebook(bob.client, {
    employees: { [address]: { canBuy: true, canSell: true, restricted: [] } },
    maxOrderNotional: AMOUNT,
    allowWithdrawShares: false,
  })
  expect((await bob.trade(buy)).state).toBe('SETTLED')
})
