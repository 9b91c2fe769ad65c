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

const ADDRESSES = ['owner', 'guardian', 'enclaveSigner', 'usdc', 'brokerFunding'] as const
const NO_ADDRESSES: Hex[] = [`0x${'00'.repeat(20)}`, '0x1234']
const withDelays = (delays: Partial<Deployment['delays']>) => ({ delays: { ...DEFAULT_DELAYS, ...delays } })
const USDC: Hex = `0x${'20'.repeat(20)}`

it.each<[string, Partial<Deployment>, code: string, usdcCode?: string]>([
  ['a rotation as long as a pause', withDelays({ rotation: 5, pause: 5 }), 'invalid-delays'],
  ['a pause as long as the wait for a reclaim', withDelays({ pause: RECLAIM_DELAY }), 'invalid-delays'],
  ['a leaving of more than 30 days', withDelays({ leave: 30 * 86_400 + 1 }), 'invalid-delays'],
  ['less than nothing', withDelays({ rotation: -1 }), 'invalid-delays'],
  ['a part of a second', withDelays({ pause: 3_600.5, rotation: 0 }), 'invalid-delays'],
  ...ADDRESSES.flatMap((name) =>
    NO_ADDRESSES.map((value): [string, Partial<Deployment>, string] => [
      `${name} ${value}`,
      { [name]: value },
      'invalid-address',
    ]),
  ),
  // Each returns its number to every caller: PUSH1 6, PUSH0, MSTORE, PUSH1 32, PUSH0, RETURN.
  [
    'USDC without EIP-3009, though it has its decimals',
    { usdc: USDC },
    'usdc-authorizations',
    '0x60065f5260205ff3',
  ],
  ['USDC of 18 decimals', { usdc: USDC }, 'usdc-decimals', '0x60125f5260205ff3'],
  ['USDC that answers nothing', { usdc: USDC }, 'usdc-decimals', '0x5f5ffd'],
])('deployContracts refuses %s, and sends nothing', async (_, changes, code, usdcCode = '0x') => {
  await chain().provider.send('anvil_setCode', [USDC, usdcCode])
  const sent = () => chain().provider.getTransactionCount(chain().account('deployer'))
  const before = await sent()
  await expect(deployContracts(await deployment(changes))).rejects.toMatchObject({ code })
  expect(await sent()).toBe(before)
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
