import { describe, expect, it } from 'vitest'
import { type Deployment, deployContracts } from '../../src/chain/deploy.js'
import type { Hex } from '../../src/protocol/hex.js'
import { useChain } from '../support/chain.js'
import { ENCLAVE_SIGNER } from '../support/roles.js'

const chain = useChain()

async function deployment(changes: Partial<Deployment> = {}): Promise<Deployment> {
  return {
    deployer: await chain().provider.getSigner(chain().account('deployer')),
    owner: chain().account('owner'),
    enclaveSigner: ENCLAVE_SIGNER,
    usdc: chain().addressOf('usdc'),
    brokerFunding: chain().account('broker'),
    ...changes,
  }
}

describe('deployContracts', () => {
  it('wires the five contracts to one another, the owner, the signer and USDC', async () => {
    const { addresses, addressOf, account, read } = chain()
    expect(await read('escrow', 'registry')).toBe(addresses.institutionRegistry)
    expect(await read('escrow', 'ledger')).toBe(addresses.confidentialLedger)
    expect(await read('escrow', 'token')).toBe(addresses.equityToken)
    expect(await read('escrow', 'pool')).toBe(addresses.platformPool)
    expect(await read('escrow', 'usdc')).toBe(addressOf('usdc'))
    expect(await read('ledger', 'escrow')).toBe(addresses.orderEscrow)
    expect(await read('ledger', 'registry')).toBe(addresses.institutionRegistry)
    expect(await read('token', 'pool')).toBe(addresses.platformPool)
    expect(await read('pool', 'token')).toBe(addresses.equityToken)
    expect(await read('pool', 'escrow')).toBe(addresses.orderEscrow)
    expect(await read('pool', 'usdc')).toBe(addressOf('usdc'))
    expect(await read('pool', 'brokerFunding')).toBe(account('broker'))
    for (const contract of ['escrow', 'ledger', 'pool'] as const) {
      expect(await read(contract, 'enclaveSigner')).toBe(ENCLAVE_SIGNER)
    }
    for (const contract of ['escrow', 'ledger', 'pool', 'token'] as const) {
      expect(await read(contract, 'owner')).toBe(account('owner'))
    }
  })

  it('deploys again under new addresses', async () => {
    const addresses = await deployContracts(await deployment())
    expect(addresses.orderEscrow).not.toBe(chain().addresses.orderEscrow)
  })

  it.each(['owner', 'enclaveSigner', 'usdc', 'brokerFunding'] as const)(
    'refuses %s that is zero or not an address, and sends nothing',
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

  it('refuses USDC without code', async () => {
    await expect(deployContracts(await deployment({ usdc: chain().account('alice') }))).rejects.toMatchObject(
      {
        code: 'usdc-not-a-contract',
      },
    )
  })

  it('refuses USDC without 6 decimals, or without decimals', async () => {
    const eighteen: Hex = `0x${'18'.repeat(20)}`
    // Returns 18 to whoever calls: PUSH1 18, PUSH0, MSTORE, PUSH1 32, PUSH0, RETURN.
    await chain().provider.send('anvil_setCode', [eighteen, '0x60125f5260205ff3'])
    for (const usdc of [eighteen, chain().addressOf('registry')]) {
      await expect(deployContracts(await deployment({ usdc }))).rejects.toMatchObject({
        code: 'usdc-decimals',
      })
    }
  })

  it('aborts when a contract comes out at another address than the others were told', async () => {
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
})
