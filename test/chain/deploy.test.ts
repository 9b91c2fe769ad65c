import { expect, it } from 'vitest'
import { checkDeployment } from '../../src/chain/checkup.js'
import { DEFAULT_DELAYS, type Deployment, deployContracts } from '../../src/chain/deploy.js'
import { createRpc } from '../../src/chain/rpc.js'
import type { Hex } from '../../src/protocol/hex.js'
import { RECLAIM_DELAY } from '../../src/protocol/reclaimDelay.js'
import { useChain } from '../support/chain.js'
import { ENCLAVE_SIGNER } from '../support/roles.js'

const chain = useChain()

async function deployment(changes: Partial<Deployment> = {}): Promise<Deployment> {
  return {
    deployer: await chain().provider.getSigner(chain().account('deployer')),
    owner: chain().account('owner'),
    guardian: chain().account('guardian'),
    enclaveSigner: ENCLAVE_SIGNER,
    delays: DEFAULT_DELAYS,
    usdc: chain().addressOf('usdc'),
    brokerFunding: chain().account('broker'),
    ...changes,
  }
}

it('deployContracts wires the contracts to one another, the authority, its roles and USDC', async () => {
  const { anvil, addresses, addressOf, account, read } = chain()
  const rpc = createRpc({ urls: [anvil.rpcUrl], timeoutMs: 5_000 })
  const findings = await checkDeployment({
    rpc,
    addresses,
    signer: ENCLAVE_SIGNER,
    signerName: 'ENCLAVE_SIGNER',
  })
  expect(findings.filter(({ result }) => result !== 'ok')).toEqual([])
  expect(await read('pool', 'usdc')).toBe(addressOf('usdc'))
  expect(await read('pool', 'brokerFunding')).toBe(account('broker'))
  for (const contract of ['authority', 'registry', 'escrow', 'ledger', 'token'] as const) {
    expect(await read(contract, 'usdc')).toBe(addressOf('usdc'))
    expect(await read(contract, 'pool')).toBe(addresses.platformPool)
  }
  expect(await read('authority', 'owner')).toBe(account('owner'))
  expect(await read('authority', 'guardian')).toBe(account('guardian'))
  expect(await read('authority', 'RECLAIM_DELAY')).toBe(BigInt(RECLAIM_DELAY))
})

it.each([
  ['a rotation as long as a pause', { rotation: 5, pause: 5 }],
  ['a pause as long as the wait for a reclaim', { pause: RECLAIM_DELAY }],
  ['a leaving of more than 30 days', { leave: 30 * 86_400 + 1 }],
  ['less than nothing', { rotation: -1 }],
  ['a part of a second', { pause: 3_600.5, rotation: 0 }],
])('deployContracts refuses %s, and sends nothing', async (_, changes) => {
  const before = await chain().provider.getTransactionCount(chain().account('deployer'))
  const delays = { ...DEFAULT_DELAYS, ...changes }
  await expect(deployContracts(await deployment({ delays }))).rejects.toMatchObject({
    code: 'invalid-delays',
  })
  expect(await chain().provider.getTransactionCount(chain().account('deployer'))).toBe(before)
})

it.each(['owner', 'guardian', 'enclaveSigner', 'usdc', 'brokerFunding'] as const)(
  'deployContracts refuses %s that is zero or not an address, and sends nothing',
  async (name) => {
    const before = await chain().provider.getTransactionCount(chain().account('deployer'))
    const values: Hex[] = [`0x${'00'.repeat(20)}`, '0x1234']
    for (const value of values) {
      await expect(deployContracts(await deployment({ [name]: value }))).rejects.toMatchObject({
        code: 'invalid-address',
        message: expect.stringContaining(name),
      })
    }
    expect(await chain().provider.getTransactionCount(chain().account('deployer'))).toBe(before)
  },
)

it.each([
  // Each returns its number to every caller: PUSH1 6, PUSH0, MSTORE, PUSH1 32, PUSH0, RETURN.
  ['without EIP-3009, though it has its decimals', '0x60065f5260205ff3', 'usdc-authorizations'],
  ['of 18 decimals', '0x60125f5260205ff3', 'usdc-decimals'],
  ['that answers nothing', '0x5f5ffd', 'usdc-decimals'],
])('deployContracts refuses USDC %s', async (_, bytecode, code) => {
  const usdc: Hex = `0x${'20'.repeat(20)}`
  await chain().provider.send('anvil_setCode', [usdc, bytecode])
  await expect(deployContracts(await deployment({ usdc }))).rejects.toMatchObject({ code })
})

it('deployContracts aborts when a contract comes out at another address than the others were given', async () => {
  const honest = await deployment()
  // A deployer that reports a nonce that is not its next one: its addresses are then computed wrongly.
  const deployer = new Proxy(honest.deployer, {
    get: (target, key) => {
      if (key === 'getNonce') return async () => (await target.getNonce('pending')) + 1
      if (key === 'sendTransaction') {
        return (transaction: { nonce: number }) =>
          target.sendTransaction({ ...transaction, nonce: transaction.nonce - 1 })
      }
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  await expect(deployContracts({ ...honest, deployer })).rejects.toMatchObject({ code: 'address-mismatch' })
})
