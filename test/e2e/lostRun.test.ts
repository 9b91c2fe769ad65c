// A server loses its DATA_DIR while a run is under way: the next one knows nothing of it and starts another.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Interface } from 'ethers'
import { expect, it } from 'vitest'
import { equityTokenAbi } from '../../src/chain/generated/equityTokenAbi.js'
import { accountIdOf } from '../../src/protocol/identifiers.js'
import { ONE_USDC } from '../../src/protocol/units.js'
import { sendAll } from '../../src/sandbox/transactions.js'
import { eventually } from '../support/eventually.js'
import { useDesk } from './support/desk.js'
import { enclaveProcesses } from './support/enclaveProcesses.js'
import { brokerOrder } from './support/trader.js'

/** A run goes on sending for twenty seconds, and another one refunds before that. */
const enclaveSettings = { AMBIGUOUS_AGAIN_MS: '4000', ABSENT_AGAIN_MS: '4000' }
const LOST_SENDS = { method: 'POST', path: '/v2/orders', account: 'enclave', drop: 'before' } as const

const desk = useDesk({ enclaveSettings })

it('a run that nobody knows of does not buy what another run refunded', async () => {
  const [alice] = desk().traders
  const { sandbox, contracts } = desk()
  const account = accountIdOf(alice.account.address)
  const wallet = await alice.wallet()
  sandbox.broker.fault({ ...LOST_SENDS, delayMs: 1_000, times: 4 })
  const orderId = await alice.send({ side: 'BUY', symbol: 'AAPL', maxSpend: 200n * ONE_USDC })
  await eventually('the write-ahead', async () => (await contracts.ledger.portfolioVersion(account)) > 0n)
  const [unknown] = await enclaveProcesses(sandbox)

  await sandbox.server().kill()
  await rm(join(sandbox.directory, 'server'), { recursive: true })
  await loseKyc(alice.account.address)
  await sandbox.restartServer()

  expect((await alice.ended(orderId)).state).toBe('REFUNDED')
  expect(unknown).toBeDefined()
  await eventually('no run is left', async () => (await enclaveProcesses(sandbox)).length === 0)
  expect(brokerOrder(sandbox, orderId)).toBeUndefined()
  expect(await alice.wallet()).toBe(wallet)
  expect((await alice.portfolio()).openOrders).toEqual({})
})

function loseKyc(address: `0x${string}`) {
  const { sandbox, contracts } = desk()
  const abi = new Interface(equityTokenAbi)
  const call = { to: contracts.token.address, abi, method: 'setKyc', args: [address, false] }
  return sendAll(sandbox.provider, sandbox.accounts.owner, [call])
}
