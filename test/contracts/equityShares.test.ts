// One equity's shares as wallets see them: ERC-20, EIP-2612, and the views of ERC-7943.
import { expect, it } from 'vitest'
import { ZERO_ADDRESS } from '../../src/protocol/address.js'
import { useChain } from '../support/chain.js'
import { AAPL, MSFT, shares } from '../support/institution.js'
import { permitOf } from '../support/openings.js'
import { callsOf } from './fixtures/calls.js'
import { setUpShares } from './fixtures/shares.js'

const chain = useChain(setUpShares)
const { account, send, read, revert } = callsOf(chain, 'aapl')
const pool = () => chain().addressOf('pool')
const escrow = () => chain().addressOf('escrow')
const own = (method: string, ...args: unknown[]) => chain().send('owner', 'token', method, ...args)

it('mint and burn are the token’s alone', async () => {
  for (const caller of [account('owner'), pool(), escrow()])
    for (const method of ['mint', 'burn'])
      expect(await revert(caller, method, 1n)).toMatchObject({ name: 'NotToken' })
})

it('a permit approves without a transaction of the holder, once: the holder’s, for this equity, and for its time', async () => {
  const terms = { spender: account('bob'), value: 5n, deadline: 2n ** 64n - 1n }
  const permit = (other: object = {}) => permitOf(chain(), 'alice', { ...terms, ...other })
  const invalid = { name: 'ERC2612InvalidSigner' }
  const msft = { name: 'MSFT', verifyingContract: chain().addressOf('msft') }
  const named = { name: 'MSFT', verifyingContract: chain().addressOf('aapl') }
  for (const other of [{ signer: 'bob' }, { domain: msft }, { domain: named }])
    expect(await revert('dave', 'permit', ...permit(other))).toMatchObject(invalid)
  const late = await revert('dave', 'permit', ...permit({ deadline: 1n }))
  expect(late).toMatchObject({ name: 'ERC2612ExpiredSignature' })
  await send('dave', 'permit', ...permit())
  expect(await read('allowance', account('alice'), account('bob'))).toBe(5n)
  expect(await revert('dave', 'permit', ...permit())).toMatchObject(invalid)
})

it('the views of ERC-7943 say who may send and receive, and what is frozen', async () => {
  const may = async (who: `0x${string}`) => [await read('canSend', who), await read('canReceive', who)]
  const alice = account('alice')
  expect(await may(account('dave'))).toEqual([false, false])
  for (const contract of [pool(), escrow()]) expect(await read('canSend', contract)).toBe(true)
  await own('setFrozen', MSFT, alice, true)
  expect([await may(alice), await read('getFrozenTokens', alice)]).toEqual([[true, true], 0n])
  await own('setFrozen', AAPL, alice, true)
  expect([await may(alice), await read('getFrozenTokens', alice)]).toEqual([[false, false], 2n ** 256n - 1n])
})

it('the views of ERC-7943 say whether a transfer would go through, as far as the holder sends it', async () => {
  const [alice, bob, dave] = [account('alice'), account('bob'), account('dave')]
  const may = async (...moves: readonly (readonly [from: string, to: string, amount: bigint])[]) =>
    Promise.all(moves.map((move) => read('canTransfer', ...move)))
  expect(await may([alice, bob, shares(10)], [alice, bob, shares(10) + 1n])).toEqual([true, false])
  expect(await may([alice, ZERO_ADDRESS, 1n], [ZERO_ADDRESS, alice, 0n])).toEqual([false, false])
  expect(await may([alice, escrow(), 1n], [alice, dave, 1n])).toEqual([false, false])
  await own('setListed', AAPL, false)
  expect(await may([alice, bob, 1n], [alice, pool(), 1n])).toEqual([false, true])
})

it('metadata names an equity by its symbol, with 9 decimals', async () => {
  const views = ['name', 'symbol', 'decimals', 'equity', 'token']
  const found = await Promise.all(views.map((view) => read(view)))
  expect(found).toEqual(['AAPL', 'AAPL', 9n, AAPL, chain().addressOf('token')])
  const domain = ['0x0f', 'AAPL', '1', BigInt(chain().anvil.chainId), chain().addressOf('aapl')]
  expect(await read('eip712Domain')).toEqual([...domain, `0x${'00'.repeat(32)}`, []])
})
