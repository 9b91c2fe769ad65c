import { expect, it } from 'vitest'
import {
  type BoundOrder,
  batchBurn,
  batchMint,
  type Call,
  orderOf,
  refund,
  settlement,
  signedCall,
} from '../support/authorizations.js'
import { type ContractKey, INTERFACES, useChain } from '../support/chain.js'
import { AAPL, bytes32, DAY, openBuy, setUpInstitution, soon, USDC, usd } from '../support/institution.js'
import { keyOf, openingCall, signOpening } from '../support/openings.js'
import { usdcFixture } from './fixtures/usdc.js'

const hostile = await usdcFixture('HostileUsdc')
let buy: BoundOrder

const chain = useChain(async (set) => {
  await setUpInstitution(set)
  buy = await orderOf(set, await openBuy(set, 'alice', 'buy', usd(5)))
  await set.send('bob', 'pool', 'fund', usd(9))
  await set.send('bob', 'usdc', 'mint', set.addressOf('escrow'), 1n)
}, hostile)

type Entry = [contract: ContractKey, method: string, ...args: unknown[]]

const turn = (method: string, ...args: unknown[]) => hostile.turn(chain(), method, ...args)

async function callBackTo([contract, method, ...args]: Entry): Promise<void> {
  await turn('callBack', chain().addressOf(contract), INTERFACES[contract].encodeFunctionData(method, args))
}

const ID = bytes32('another')
const settles = (): Call => signedCall(chain(), settlement(buy))
const refunds = (): Call => signedCall(chain(), refund(buy))
/** The hostile token asks for no signature of a buy. */
const opensFor = async (amount: bigint): Promise<Entry> => {
  const deadline = await soon(chain())
  const order = { orderId: ID, commit: ID, amount, deadline, validBefore: deadline }
  const signed = { account: chain().account('alice'), ...order }
  return openingCall(signed, signOpening(chain(), signed, { key: keyOf(chain(), 'alice') }))
}
const opens = async (): Promise<Entry> => ['escrow', 'openBuy', ID, ID, usd(1), await soon(chain())]
async function reclaims() {
  await chain().mineAt((await soon(chain())) + 8 * DAY)
  return chain().revert('alice', 'escrow', 'reclaim', buy.orderId)
}
const REENTERED = { name: 'ReentrancyGuardReentrantCall', args: {} }

it.each([
  ['opening', async () => chain().revert('alice', ...(await opens()))],
  ['opening for an account', async () => chain().revert('dave', ...(await opensFor(usd(1))))],
  ['settling', () => chain().revert('relayer', ...settles())],
  ['refunding', () => chain().revert('relayer', ...refunds())],
  ['reclaiming', () => reclaims()],
  ['sweeping', () => chain().revert('dave', 'escrow', 'sweepUsdc')],
])('while USDC moves, the escrow cannot be entered again (%s)', async (_, act) => {
  const entries: Entry[] = [
    await opens(),
    ['escrow', 'openRequest', ID, ID, await soon(chain())],
    ['escrow', 'openDeposit', ID, ID, AAPL, 1n, await soon(chain())],
    await opensFor(usd(1)),
    await opensFor(0n),
    settles(),
    refunds(),
    ['escrow', 'reclaim', buy.orderId],
    ['escrow', 'claim', USDC, chain().account('alice')],
    ['escrow', 'sweepUsdc'],
  ]
  for (const entry of entries) {
    await callBackTo(entry)
    expect(await act(), entry[1]).toEqual(REENTERED)
  }
})

it.each([
  ['funding', () => chain().revert('bob', 'pool', 'fund', 1n)],
  ['moving the treasury', () => chain().revert('owner', 'pool', 'transferTreasury', 1n)],
])('while USDC moves, the pool cannot be entered again (%s)', async (_, act) => {
  const entries: Entry[] = [
    ['pool', 'fund', 1n],
    ['pool', 'transferTreasury', 1n],
    ['pool', 'payout', chain().account('bob'), USDC, 1n],
    signedCall(chain(), batchMint(AAPL, 1n)),
    signedCall(chain(), batchBurn(AAPL, 1n)),
  ]
  for (const entry of entries) {
    await callBackTo(entry)
    expect(await act(), entry[1]).toEqual(REENTERED)
  }
})

it('USDC that moves nothing and returns false fails every function that moves it', async () => {
  await turn('fail')
  const failed = { name: 'SafeERC20FailedOperation', args: { token: chain().addressOf('usdc') } }
  const { revert } = chain()
  expect(await revert('alice', ...(await opens()))).toEqual(failed)
  // EIP-3009's function returns nothing, so only the token itself can report the failure.
  const byToken = { name: 'Error', args: { '0': 'hostile' } }
  expect(await revert('dave', ...(await opensFor(usd(1))))).toEqual(byToken)
  for (const call of [settles(), refunds()]) expect(await revert('relayer', ...call)).toEqual(failed)
  expect(await revert('bob', 'pool', 'fund', 1n)).toEqual(failed)
  expect(await revert('owner', 'pool', 'transferTreasury', 1n)).toEqual(failed)
  expect(await revert('dave', 'escrow', 'sweepUsdc')).toEqual(failed)
  expect(await reclaims()).toEqual(failed)
})
