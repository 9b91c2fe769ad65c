import { expect, it } from 'vitest'
import type { Authorization } from '../../src/protocol/authorization.js'
import { batchBurn, batchMint } from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import { AAPL, MSFT, setUpInstitution, shares } from '../support/institution.js'
import { orderActions } from '../support/orderActions.js'
import { callsOf } from './fixtures/calls.js'

const chain = useChain(setUpInstitution)
const { read, toldBy } = callsOf(chain, 'pool')
const { relay, relayRevert } = orderActions(chain)
const minted = async (authorization: Authorization) =>
  (await toldBy(relay(authorization))).filter(([name]) => name === 'BatchMinted')

it('mintBatch mints to the pool and tells the supply after it', async () => {
  expect(await minted(batchMint(AAPL, shares(5)))).toEqual([['BatchMinted', AAPL, shares(5), shares(5)]])
  const second = batchMint(AAPL, shares(2), { expectedSupply: shares(5), batch: 2n })
  expect(await minted(second)).toEqual([['BatchMinted', AAPL, shares(2), shares(7)]])
  expect([await read('nextBatch', AAPL), await read('nextBatch', MSFT)]).toEqual([3n, 1n])
  // Each conflict has an enclave read anew.
  expect(await relayRevert(batchMint(AAPL, 1n, { expectedSupply: shares(7), batch: 2n }))).toMatchObject({
    name: 'BatchConflict',
  })
  expect(await relayRevert(batchMint(AAPL, 1n, { expectedSupply: 1n, batch: 3n }))).toMatchObject({
    name: 'SupplyConflict',
  })
})

it.each([
  ['mintBatch', batchMint],
  ['burnBatch', batchBurn],
] as const)('%s says until when fills are counted, and never goes back', async (_, build) => {
  const counted = (countedUntil: bigint) => ({ expectedSupply: shares(5), batch: 2n, countedUntil })
  await relay(batchMint(AAPL, shares(5), { countedUntil: 1_000n }))
  expect([await read('countedUntil', AAPL), await read('countedUntil', MSFT)]).toEqual([1_000n, 0n])
  expect(await relayRevert(build(AAPL, 1n, counted(999n)))).toEqual({
    name: 'CountedAlready',
    args: { countedUntil: '1000', got: '999' },
  })
  // A batch for one withdrawal leaves the time as it is.
  expect(await relayRevert(build(AAPL, 1n, counted(1_000n)))).toBeNull()
  await relay(build(AAPL, 1n, counted(2_000n)))
  expect(await read('countedUntil', AAPL)).toBe(2_000n)
})
