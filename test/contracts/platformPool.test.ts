import { describe, expect, it } from 'vitest'
import type { Authorization } from '../../src/protocol/authorization.js'
import type { Hex } from '../../src/protocol/hex.js'
import { batchBurn, batchMint, signedCall } from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import { AAPL, MSFT, setUpInstitution, shares, USDC, ZERO_BYTES32 } from '../support/institution.js'
import type { Role } from '../support/roles.js'

const chain = useChain(setUpInstitution)

const account = (role: Role): Hex => chain().account(role)
const relay = (authorization: Authorization) => chain().send('relayer', ...signedCall(chain(), authorization))
const relayRevert = (authorization: Authorization) =>
  chain().revert('relayer', ...signedCall(chain(), authorization))
const revert = (from: Role, method: string, ...args: unknown[]) =>
  chain().revert(from, 'pool', method, ...args)
async function poolEvents(sent: ReturnType<typeof relay>) {
  return chain()
    .events(await sent)
    .filter(({ contract }) => contract === 'pool')
    .map(({ name, args }) => [name, ...args])
}

it('mintBatch mints to the pool and tells the supply after it', async () => {
  expect(await chain().read('pool', 'nextBatch', AAPL)).toBe(1n)
  expect(await poolEvents(relay(batchMint(AAPL, shares(5))))).toEqual([
    ['BatchMinted', AAPL, shares(5), shares(5)],
  ])
  expect(
    await poolEvents(relay(batchMint(AAPL, shares(2), { expectedSupply: shares(5), batch: 2n }))),
  ).toEqual([['BatchMinted', AAPL, shares(2), shares(7)]])
  expect(await chain().read('pool', 'nextBatch', AAPL)).toBe(3n)
  expect(await chain().read('pool', 'nextBatch', MSFT)).toBe(1n)
})

it('mintBatch mints what is not listed, but no USDC and nothing without a name', async () => {
  expect(await relayRevert(batchMint(MSFT, 1n))).toBeNull()
  expect(await relayRevert(batchMint(USDC, 1n))).toEqual({ name: 'ReservedSymbol', args: { symbol: USDC } })
  expect(await relayRevert(batchMint(ZERO_BYTES32, 1n))).toEqual({
    name: 'InvalidName',
    args: { name: ZERO_BYTES32 },
  })
})

describe.each([
  ['mintBatch', batchMint],
  ['burnBatch', batchBurn],
] as const)('%s', (_, build) => {
  it('says until when fills are counted, and never goes back', async () => {
    const counted = (countedUntil: bigint) => ({ expectedSupply: shares(5), batch: 2n, countedUntil })
    await relay(batchMint(AAPL, shares(5), { countedUntil: 1_000n }))
    expect(await chain().read('pool', 'countedUntil', AAPL)).toBe(1_000n)
    expect(await chain().read('pool', 'countedUntil', MSFT)).toBe(0n)
    for (const got of [0n, 999n]) {
      expect(await relayRevert(build(AAPL, 1n, counted(got)))).toEqual({
        name: 'CountedAlready',
        args: { countedUntil: '1000', got: `${got}` },
      })
    }
    // A batch for one withdrawal leaves the time as it is.
    expect(await relayRevert(build(AAPL, 1n, counted(1_000n)))).toBeNull()
    await relay(build(AAPL, 1n, counted(2_000n)))
    expect(await chain().read('pool', 'countedUntil', AAPL)).toBe(2_000n)
    expect(await chain().read('pool', 'nextBatch', AAPL)).toBe(3n)
  })
})

it('payout is the escrow’s alone', async () => {
  for (const role of ['owner', 'relayer'] as const) {
    expect(await revert(role, 'payout', account(role), USDC, 0n)).toEqual({
      name: 'NotEscrow',
      args: { expected: chain().addressOf('escrow'), caller: account(role) },
    })
  }
})
