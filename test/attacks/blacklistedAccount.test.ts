// Actor: Circle, which may blacklist any address in USDC at any time; or Alice, whose address it blacklists.
// Cost: nothing.
// Effect: her refund reverted at every attempt and through every relayer. Her order never ended, its money stayed in escrow, and the
// enclave ran for it again and again. One of her twenty open orders stayed taken.
// Now: the order ends. The payment that only she prevents becomes a claim, apart from the pool. She withdraws it once she can receive it,
// or has it paid to another cleared wallet that the platform's owner approved for her.
import { Contract, Wallet } from 'ethers'
import { expect, test } from 'vitest'
import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'
import { waitForReceipt } from '../../src/chain/waitForReceipt.js'
import type { Hex } from '../../src/protocol/hex.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { ONE_USDC } from '../../src/protocol/units.js'
import { compiledFixture } from '../contracts/fixtures/compiled.js'
import { personEnv, runCli } from '../e2e/support/cli.js'
import { type Desk, useDesk } from '../e2e/support/desk.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

const desk = useDesk()
const AMOUNT = 200n * ONE_USDC
/** Seconds that the order has: enough to blacklist her before it ends. */
const LIFETIME = 12

const fixture = await compiledFixture('BlacklistingUsdc')

/** USDC with a blacklist takes the place of the sandbox's; balances and allowances stay as they are. */
async function installBlacklist({ sandbox }: Desk): Promise<(account: Hex, on: boolean) => Promise<void>> {
  const { provider, accounts } = sandbox
  const deployer = new Wallet(accounts.brokerFunding.privateKey, provider)
  const { hash } = await deployer.sendTransaction({ data: `0x${fixture.bytecode}`, gasLimit: 3_000_000n })
  const deployed = (await waitForReceipt(provider, hash))?.contractAddress ?? ''
  const code = await provider.getCode(deployed)
  await provider.send('anvil_setCode', [sandbox.info.contracts.usdc, code])
  const usdc = new Contract(sandbox.info.contracts.usdc, JSON.stringify(fixture.abi), deployer)
  return async (account, on) => {
    const { hash: sent } = await usdc.getFunction('setBlacklisted').send(account, on)
    expect((await waitForReceipt(provider, sent))?.status).toBe(1)
  }
}

test('a blacklisted account’s refund becomes a claim, which it has paid later or elsewhere', async () => {
  const { sandbox, contracts, usdc, traders, chainTime } = desk()
  const [alice, bob] = traders
  const { address } = alice.account
  const setBlacklisted = await installBlacklist(desk())
  const env = personEnv(desk(), alice, await temporaryDirectory())
  const before = await alice.wallet()

  sandbox.broker.clock({ open: false, nextOpen: new Date(Date.now() + 600_000).toISOString() })
  const deadline = (await chainTime()) + LIFETIME
  const orderId = await alice.send({ side: 'BUY', symbol: 'AAPL', usdc: AMOUNT, deadline })
  await setBlacklisted(address, true)
  expect((await alice.ended(orderId)).state).toBe('REFUNDED')
  sandbox.broker.clock({ open: true })
  expect(await alice.wallet()).toBe(before - AMOUNT)

  // The claim stands in the escrow, apart from pool and open orders.
  const listed = await runCli(['claim', '--json'], env)
  expect(JSON.parse(listed.out)).toEqual({
    claims: [{ asset: 'USDC', amount: AMOUNT.toString(), recipient: null }],
  })
  expect(await contracts.escrow.openOrders()).toBe(0)
  expect(await usdc.balanceOf(contracts.escrow.address)).toBe(AMOUNT)

  // Neither she nor anybody else gets at it while she is blacklisted, unless the owner approves a cleared wallet.
  expect((await runCli(['claim', 'USDC'], env)).exit).toBe(1)
  const elsewhere = await runCli(['claim', 'USDC', '--to', bob.account.address, '--json'], env)
  expect(elsewhere.exit).toBe(1)
  expect(elsewhere.err).toContain('"code":"not-claim-recipient"')
  const owner = new Wallet(sandbox.accounts.owner.privateKey, sandbox.provider)
  const escrow = new Contract(contracts.escrow.address, orderEscrowAbi, owner)
  const { hash } = await escrow
    .getFunction('approveClaimRecipient')
    .send(address, nameToBytes32('USDC'), bob.account.address)
  await waitForReceipt(sandbox.provider, hash)
  const bobBefore = await bob.wallet()
  expect((await runCli(['claim', 'USDC', '--to', bob.account.address], env)).exit).toBe(0)
  expect(await bob.wallet()).toBe(bobBefore + AMOUNT)
  expect(await alice.client.getClaims()).toEqual([])

  // She goes on trading once she is off the list.
  await setBlacklisted(address, false)
  expect((await alice.trade({ side: 'BUY', symbol: 'AAPL', usdc: AMOUNT })).state).toBe('SETTLED')
})
