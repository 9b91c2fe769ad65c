// The whole way of a lost wallet's portfolio to a new one: admin, new wallet and owner by their commands, then server, enclave and chain.
import { expect, test } from 'vitest'
import { interfaces } from '../../src/chain/interfaces.js'
import { ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { sendAll } from '../../src/sandbox/localChain.js'
import { usd } from '../support/brokerStandIn.js'
import { DAY } from '../support/institution.js'
import { operate } from '../support/operate.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { personEnv, runCli } from './support/cli.js'
import { useDesk } from './support/desk.js'
import { createTrader } from './support/trader.js'

const desk = useDesk()

async function pass(seconds: number): Promise<void> {
  await desk().sandbox.provider.send('evm_increaseTime', [seconds])
  await desk().sandbox.provider.send('evm_mine', [])
}

test('a lost wallet’s portfolio moves to a new wallet by four commands and a week, and the new wallet trades with it', async () => {
  const { sandbox, contracts, traders, admin } = desk()
  const { newcomer } = sandbox.accounts
  const [lost] = traders
  await lost.trade({ side: 'BUY', symbol: 'AAPL', usdc: usd(1_000) })
  await lost.trade({ side: 'SELL', symbol: 'AAPL', usdc: usd(300) })
  const claim = [2, await desk().chainTime(), 0n, 0n, 0, nameToBytes32('AAPL'), ZERO_BYTES32]
  const list = { to: await contracts.token.actions(), abi: interfaces.corporateActions, args: [claim] }
  const steps = ['propose', 'enact'].map((method) => ({ ...list, method }))
  await sendAll(sandbox.provider, sandbox.accounts.owner, steps)
  const before = await lost.portfolio()
  const own = createTrader(desk(), newcomer)
  const command = async (account: typeof newcomer, ...args: string[]) => {
    const done = await runCli(args, personEnv(desk(), { account }, await temporaryDirectory()))
    expect(done, args.join(' ')).toMatchObject({ exit: 0 })
    return done
  }
  const run = async (account: typeof newcomer, ...args: string[]) =>
    (await command(account, 'move', ...args)).out
  const asOwner = (...args: string[]) =>
    operate([...args, '--yes', '--json', '--directory', sandbox.directory], {
      env: { RPC_URL: sandbox.info.rpcUrl, OWNER_PRIVATE_KEY: sandbox.accounts.owner.privateKey },
    })
  const wallets = [lost.account.address, newcomer.address]

  const proposed = await command(sandbox.accounts.admin, 'move', 'propose', ...wallets)
  expect(proposed.err).toContain(`proposed: ${newcomer.address} accepts it next`)
  await asOwner('kyc', newcomer.address)
  expect(await asOwner('move', ...wallets)).toMatchObject({
    exit: 1,
    err: expect.stringContaining('move-not-approvable'),
  })
  await run(newcomer, 'accept', lost.account.address)
  expect(await asOwner('move', ...wallets)).toMatchObject({ exit: 0 })
  expect(await run(lost.account, 'show')).toContain(newcomer.address)
  const warned = await command(lost.account, 'portfolio')
  expect(warned.err).toContain(`a move of this portfolio to ${newcomer.address} is proposed, due from`)
  expect(warned.err).toContain('claims to cash: 1, not counted before they are paid')
  const early = await asOwner('move', ...wallets, '--carry-out')
  expect([early.exit, early.err]).toEqual([1, expect.stringContaining('can be carried out from')])

  await pass(7 * DAY)
  const done = await asOwner('move', ...wallets, '--carry-out')
  expect(done.err).not.toContain('"error"')
  expect(JSON.parse(done.out)).toMatchObject({ command: 'move', from: wallets[0], to: wallets[1] })
  const moved = await own.portfolio()
  expect([moved.cash, moved.positions]).toEqual([before.cash, before.positions])
  expect(await lost.portfolio()).toMatchObject({ cash: 0n, positions: {} })
  const again = await asOwner('move', ...wallets, '--carry-out')
  expect([again.exit, again.err]).toEqual([1, expect.stringContaining('move-not-due')])

  expect(await run(lost.account, 'show')).toBe('No move is proposed.\n')

  await admin.inviteMember(newcomer.address)
  expect((await own.trade({ side: 'WITHDRAW', usdc: before.cash })).state).toBe('SETTLED')
  expect(await own.wallet()).toBeGreaterThanOrEqual(before.cash)
})
