import { expect, it, onTestFinished } from 'vitest'
import { createFindNonceUse } from '../../src/chain/nonceUse.js'
import { createRpc } from '../../src/chain/rpc.js'
import { startAnvil } from '../../src/sandbox/anvil.js'

it.each([
  ['keeps the state of every block', 1_000],
  ['keeps the states of a few blocks', 20],
])('finds the transaction that used a nonce at a node that %s', async (_, states) => {
  const anvil = await startAnvil({ states })
  onTestFinished(() => anvil.stop())
  const direct = anvil.provider
  const [from = '0x', to] = anvil.accounts.map(({ address }) => address)
  await direct.send('anvil_mine', ['0x64'])
  const hash = await direct.send('eth_sendTransaction', [{ from, to, value: '0x1' }])
  await direct.send('eth_sendTransaction', [{ from, to: from, value: '0x1' }])
  await direct.send('anvil_mine', ['0x2'])
  const rpc = createRpc({ urls: [anvil.rpcUrl], timeoutMs: 10_000, chainId: anvil.chainId })
  const findNonceUse = createFindNonceUse({ rpc, address: from })
  const head = await direct.getBlockNumber()
  expect(await findNonceUse(0, head)).toEqual({ hash, isToItself: false })
  expect(await findNonceUse(1, head)).toMatchObject({ isToItself: true })
  expect(await findNonceUse(2, head)).toBeUndefined()
})
