// Decisions by the library alone, without a server. What each comes to is told in test/operate.
import { expect, it } from 'vitest'
import { applyChange, type Change, createOperator, planChange } from '../../src/client/operator.js'
import { useChain } from '../support/chain.js'
import type { Role } from '../support/roles.js'
import { ORG_ID, walletOf } from './clientSetting.js'

const chain = useChain()
const operator = (role: Role) =>
  createOperator({ wallet: walletOf(chain(), role), escrow: chain().addressOf('escrow') })

it('an allowance of nothing withdraws the one that the pool has', async () => {
  const change: Change = { kind: 'allowance', usdc: 5n }
  await applyChange(operator('owner'), change)
  expect(await applyChange(operator('owner'), { ...change, usdc: 4n })).toBeNull()
  await applyChange(operator('owner'), { ...change, usdc: 0n })
  const [owner, pool] = [chain().account('owner'), chain().addressOf('pool')]
  expect(await chain().read('usdc', 'allowance', owner, pool)).toBe(0n)
  expect(await applyChange(operator('owner'), { ...change, usdc: 0n })).toBeNull()
})

const wallet = `0x${'11'.repeat(20)}` as const
it.each([
  // The contract would take these symbols.
  ...['aapl', 'USDC', 'APPLE COMPUTER'].flatMap((symbol) => [
    { kind: 'listing' as const, symbol, isListed: true },
    { kind: 'freeze' as const, symbol, wallet, isFrozen: true },
  ]),
  { kind: 'fund', usdc: -1n },
  { kind: 'kyc', wallet: '0x12', isVerified: true },
  { kind: 'admission', orgId: '0x12', admin: wallet, isAdmitted: true },
] as const)('a change that makes no sense is planned by nobody: %o', async (change) => {
  await expect(planChange(operator('owner'), change)).rejects.toMatchObject({ name: 'ClientError' })
})

it.each([
  { kind: 'listing', symbol: 'AAPL', isListed: true },
  { kind: 'admission', orgId: ORG_ID, admin: wallet, isAdmitted: true },
  { kind: 'treasury', usdc: 0n },
  { kind: 'pause', isPaused: true },
  { kind: 'actionWithdrawal', digest: ORG_ID },
] as const)(
  'the refusal of another wallet has its name, whichever contract refuses: $kind',
  async (change) => {
    const { send } = await planChange(operator('alice'), change)
    await expect(send()).rejects.toMatchObject({ code: change.kind === 'pause' ? 'NotGuardian' : 'NotOwner' })
  },
)
