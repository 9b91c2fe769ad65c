// A deposit of USDC that the platform opens: the relay takes it from its account alone, once, in time, within its quota.
import { Interface, Wallet } from 'ethers'
import { expect, test } from 'vitest'
import { equityTokenAbi } from '../../src/chain/generated/equityTokenAbi.js'
import { eventually } from '../support/eventually.js'
import { useDesk } from './support/desk.js'
import { post, signedBy } from './support/signedBodies.js'

// Enough for one opening and its settlement.
const desk = useDesk({ serverSettings: { RELAY_ACCOUNT_DAILY_GAS: '300000' } })
const ONE = 1_000_000n
const DEPOSIT = { side: 'DEPOSIT', symbol: 'USDC', maxSpend: 25n * ONE } as const

test('is opened for an account without ether, becomes cash once, and then meets the end of its quota', async () => {
  const [alice] = desk().traders
  await desk().sandbox.provider.send('anvil_setBalance', [alice.account.address, '0x0'])
  const before = await alice.wallet()
  const body = await signedBy(desk(), alice.account.privateKey, DEPOSIT)
  for (let times = 0; times < 3; times++) expect(await post(desk(), body)).toMatchObject({ status: 202 })
  expect(await alice.ended(body.orderId)).toMatchObject({ state: 'SETTLED', amount: 25n * ONE })
  expect(await post(desk(), body)).toMatchObject({ status: 202 })
  expect(before - (await alice.wallet())).toBe(25n * ONE)
  expect((await alice.portfolio()).cash).toBe(25n * ONE)
  const second = await signedBy(desk(), alice.account.privateKey, DEPOSIT)
  await eventually('the quota is used up', async () => {
    const { status, code } = await post(desk(), second)
    return status === 429 && code === 'relay-quota-exhausted'
  })
  expect(before - (await alice.wallet())).toBe(25n * ONE)
})

test('is refused where another has signed it, of another amount, too late, or without KYC', async () => {
  const { sandbox, traders } = desk()
  const [alice, bob, carol] = traders
  const before = await carol.wallet()
  const hers = await signedBy(desk(), carol.account.privateKey, DEPOSIT)
  const others = await signedBy(desk(), bob.account.privateKey, DEPOSIT)
  for (const opening of [
    { ...hers.opening, sig: others.opening.sig },
    { ...hers.opening, account: alice.account.address },
    { ...hers.opening, amount: `${26n * ONE}` },
  ]) {
    expect(await post(desk(), { ...hers, opening })).toMatchObject({ status: 422, code: 'invalid-opening' })
  }
  const token = sandbox.info.contracts.equityToken
  const owner = sandbox.accounts.owner
  const setKyc = async (on: boolean) => {
    const data = new Interface(equityTokenAbi).encodeFunctionData('setKyc', [carol.account.address, on])
    await (await new Wallet(owner.privateKey, sandbox.provider).sendTransaction({ to: token, data })).wait()
  }
  await setKyc(false)
  const refused = { status: 422, code: 'would-revert' }
  expect(await post(desk(), hers)).toMatchObject({ ...refused, revert: 'NotCleared' })
  await setKyc(true)
  await sandbox.provider.send('evm_increaseTime', [1_200])
  await sandbox.provider.send('evm_mine', [])
  expect(await post(desk(), hers)).toMatchObject({ ...refused, revert: 'OpeningExpired' })
  expect(await carol.wallet()).toBe(before)
})
