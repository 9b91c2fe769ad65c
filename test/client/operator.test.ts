// Decisions by the library alone, without a server. What each comes to is told in test/operate.
import { expect, it } from 'vitest'
import { applyChange, type Change, createOperator, planChange } from '../../src/client/operator.js'
import { useChain } from '../support/chain.js'
import type { Role } from '../support/roles.js'
import { ORG_ID, walletOf } from './clientSetting.js'

const chain = useChain()
const operator = (role: Role) =>
  createOperator({ wallet: walletOf(chain(), role), escrow: chain().addressOf('escrow') })

it('a change is sent once: carried out again it is in force, and nothing is sent', async () => {
  const change: Change = { kind: 'kyc', wallet: chain().account('bob'), isVerified: true }
  expect(await applyChange(operator('owner'), change)).toMatchObject({ blockNumber: expect.any(Number) })
  expect(await chain().read('token', 'isKyc', change.wallet)).toBe(true)
  const block = await chain().provider.getBlockNumber()
  expect(await applyChange(operator('owner'), change)).toBeNull()
  expect(await chain().provider.getBlockNumber()).toBe(block)
})

it('an allowance of nothing withdraws the one that the pool has', async () => {
  const change: Change = { kind: 'allowance', usdc: 5n }
  await applyChange(operator('owner'), change)
  expect(await applyChange(operator('owner'), { ...change, usdc: 4n })).toBeNull()
  await applyChange(operator('owner'), { ...change, usdc: 0n })
  const [owner, pool] = [chain().account('owner'), chain().addressOf('pool')]
  expect(await chain().read('usdc', 'allowance', owner, pool)).toBe(0n)
  expect(await applyChange(operator('owner'), { ...change, usdc: 0n })).toBeNull()
})

it.each(['aapl', 'USDC', 'APPLE COMPUTER'])(
  'the symbol %s, which the contract would take, is neither listed nor frozen',
  async (symbol) => {
    const listing = planChange(operator('owner'), { kind: 'listing', symbol, isListed: true })
    await expect(listing).rejects.toMatchObject({ code: 'invalid-name' })
    const change = { kind: 'freeze', symbol, wallet: chain().account('bob'), isFrozen: true } as const
    await expect(planChange(operator('owner'), change)).rejects.toMatchObject({ code: 'invalid-name' })
  },
)

it.each([
  { kind: 'fund', usdc: -1n },
  { kind: 'kyc', wallet: '0x12', isVerified: true },
  { kind: 'admission', orgId: '0x12', admin: `0x${'11'.repeat(20)}`, isAdmitted: true },
] as const)('a change that no contract takes is planned by nobody: $kind', async (change) => {
  await expect(planChange(operator('owner'), change)).rejects.toMatchObject({ name: 'ClientError' })
})

it.each(['listing', 'admission', 'treasury', 'pause', 'actionWithdrawal'] as const)(
  'the refusal of another wallet has its name, whichever contract refuses: %s',
  async (kind) => {
    const changes = {
      listing: { kind: 'listing', symbol: 'AAPL', isListed: true },
      admission: { kind: 'admission', orgId: ORG_ID, admin: chain().account('admin'), isAdmitted: true },
      treasury: { kind: 'treasury', usdc: 0n },
      pause: { kind: 'pause', isPaused: true },
      actionWithdrawal: { kind: 'actionWithdrawal', digest: ORG_ID },
    } as const
    const { send } = await planChange(operator('alice'), changes[kind])
    await expect(send()).rejects.toMatchObject({ code: kind === 'pause' ? 'NotGuardian' : 'NotOwner' })
  },
)
