// The chain of a sandbox, as it is before anybody trades.
import { expect, it, onTestFinished } from 'vitest'
import { castAccounts } from '../../src/sandbox/accounts.js'
import { startAnvil } from '../../src/sandbox/anvil.js'
import { populate } from '../../src/sandbox/localChain.js'
import { DELAYS, EQUITIES } from '../../src/sandbox/settings.js'

it('no transaction reaches the chain while the one before is mined: anvil can leave it in its pool for good', async () => {
  const anvil = await startAnvil()
  onTestFinished(() => anvil.stop())
  const { provider } = anvil
  const accounts = castAccounts(anvil)
  const signed = { enclaveSigner: accounts.guardian.address, delays: DELAYS }
  await populate(provider, accounts, signed, () => undefined)
  const head = await provider.getBlockNumber()
  const blocks = Array.from({ length: head }, (_, at) =>
    provider.send('eth_getBlockTransactionCountByNumber', [`0x${(at + 1).toString(16)}`]),
  )
  const { length: employees } = accounts.employees
  expect((await Promise.all(blocks)).map(Number)).toEqual([
    // USDC, the authority and the five contracts, each by itself.
    ...[1, 1, 1, 1, 1, 1, 1],
    // The owner's calls, the institution, its admission, its invitations, and who joins.
    ...[EQUITIES.length + employees + (employees + 1), 1, 1, employees, ...accounts.employees.map(() => 1)],
  ])
})
