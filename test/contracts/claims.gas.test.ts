// Anyone may carry an authorization to the chain, with any amount of gas. Too little must never pass for an
// account that cannot receive: whatever the gas, the call pays the account or reverts. Nor must a failure of USDC itself.
import { toQuantity } from 'ethers'
import { expect, it } from 'vitest'
import * as z from 'zod'
import type { Authorization } from '../../src/protocol/authorization.js'
import type { Hex } from '../../src/protocol/hex.js'
import { batchMint, refund, settlement, signedCall } from '../support/authorizations.js'
import { type ContractKey, INTERFACES, useChain } from '../support/chain.js'
import { AAPL, DAY, setUpInstitution, shares, soon, USDC, usd } from '../support/institution.js'
import { orderActions, STATE } from '../support/orderActions.js'
import type { Role } from '../support/roles.js'
import { usdcFixture } from './fixtures/usdc.js'

/** A transfer of USDC uses so much: what 1/64 of it leaves is enough for the rest of a claim. */
const BURNED = 6_000_000
/** Less than this, and the node takes no transaction of the size of ours. */
const INTRINSIC = 60_000
const PLENTY = 15_000_000
const usdc = await usdcFixture('BlacklistingUsdc')
const chain = useChain(async (set) => {
  await setUpInstitution(set)
  await set.send('relayer', ...signedCall(set, batchMint(AAPL, shares(100))))
  await set.send('carol', 'usdc', 'approve', set.addressOf('pool'), usd(9))
  await set.send('carol', 'pool', 'fund', usd(9))
}, usdc)
const { account, buy, relayRevert, request, stateOf } = orderActions(chain)

const simulatedSchema = z.tuple([
  z.object({ calls: z.tuple([z.object({ status: z.string() }), z.object({ returnData: z.string() })]) }),
])

/** A transaction, by its sender, and the asset that it pays to alice. */
interface Sent {
  from: Role
  call: [contract: ContractKey, method: string, ...args: unknown[]]
  asset: Hex
}

/** Its outcome with that much gas. The node only simulates it. */
async function outcomeOf({ from, call: [contract, method, ...args], asset }: Sent, gas: number) {
  const sent = {
    from: account(from),
    to: chain().addressOf(contract),
    data: INTERFACES[contract].encodeFunctionData(method, args),
    gas: toQuantity(gas),
  }
  const claims = {
    to: chain().addressOf('escrow'),
    data: INTERFACES.escrow.encodeFunctionData('claims', [account('alice'), asset]),
  }
  const blocks = { blockStateCalls: [{ calls: [sent, claims] }] }
  const answer: unknown = await chain().provider.send('eth_simulateV1', [blocks, 'latest'])
  const [{ calls }] = simulatedSchema.parse(answer)
  if (calls[0].status !== '0x1') return 'reverts'
  return BigInt(calls[1].returnData) > 0n ? 'makes a claim' : 'pays'
}

/** The least gas with which it pays, to the thousand. */
async function leastOf(sent: Sent): Promise<number> {
  let [less, enough] = [INTRINSIC, PLENTY]
  expect(await outcomeOf(sent, enough)).toBe('pays')
  while (enough - less > 1_000) {
    const middle = Math.floor((less + enough) / 2)
    if ((await outcomeOf(sent, middle)) === 'pays') enough = middle
    else less = middle
  }
  return enough
}

const relayed = (authorization: Authorization, asset: Hex): Sent => ({
  from: 'relayer',
  call: signedCall(chain(), authorization),
  asset,
})
const paying = async (payoutAsset: Hex, payout: bigint) =>
  settlement(await request('alice', 'withdrawal'), { payoutAsset, payout })

it.each<[string, () => Promise<Sent>]>([
  ['a refund', async () => relayed(refund(await buy('alice', 'buy', usd(1_000))), USDC)],
  [
    'a reclaim',
    async () => {
      const { orderId } = await buy('alice', 'buy', usd(1_000))
      await chain().mineAt((await soon(chain())) + 8 * DAY)
      return { from: 'alice', call: ['escrow', 'reclaim', orderId], asset: USDC }
    },
  ],
  ['a payout of USDC', async () => relayed(await paying(USDC, usd(9)), USDC)],
  ['a payout of shares', async () => relayed(await paying(AAPL, shares(9)), AAPL)],
])('with too little gas %s reverts', async (_what, prepare) => {
  const sent = await prepare()
  await usdc.turn(chain(), 'setBurned', BURNED)
  const least = await leastOf(sent)
  // By small steps first and then by large ones.
  for (let less = 1_000; least - less > INTRINSIC; less = Math.ceil(less * 1.15) + 500) {
    expect(await outcomeOf(sent, least - less), `${least - less} of ${least}`).toBe('reverts')
  }
})

it.each([
  ['USDC is paused', 'Pausable: paused', () => usdc.turn(chain(), 'setPaused', true)],
  [
    'USDC has blacklisted the escrow',
    'Blacklistable: account is blacklisted',
    () => usdc.turn(chain(), 'setBlacklisted', chain().addressOf('escrow'), true),
  ],
])(
  'a failure that is not the account’s own makes no claim, and everything reverts: %s',
  async (_, message, fail) => {
    const order = await buy('alice', 'buy', usd(1_000))
    const paid = await paying(USDC, usd(9))
    await chain().mineAt((await soon(chain())) + 8 * DAY)
    await usdc.turn(chain(), 'setBlacklisted', account('alice'), true)
    expect(await outcomeOf(relayed(refund(order), USDC), PLENTY)).toBe('makes a claim')
    await fail()
    const reverted = { name: 'Error', args: { 0: message } }
    expect(await relayRevert(refund(order))).toEqual(reverted)
    expect(await relayRevert(paid)).toEqual(reverted)
    expect(await chain().revert('alice', 'escrow', 'reclaim', order.orderId)).toEqual(reverted)
    expect(await stateOf(order.orderId)).toBe(STATE.OPEN)
  },
)
