import { Contract, Wallet } from 'ethers'
import { institutionRegistryAbi } from '../../../src/chain/generated/institutionRegistryAbi.js'
import { waitForReceipt } from '../../../src/chain/waitForReceipt.js'
import { addressSchema } from '../../../src/protocol/address.js'
import { bytes32Schema } from '../../../src/protocol/hex.js'
import type { SandboxAccount } from '../../../src/sandbox/accounts.js'
import type { Desk } from '../../e2e/support/desk.js'

/** Somebody with ether and nothing else. */
export async function createStranger({ sandbox }: Desk): Promise<SandboxAccount> {
  const { address, privateKey } = Wallet.createRandom()
  await sandbox.provider.send('anvil_setBalance', [address, '0x8ac7230489e80000'])
  return { address: addressSchema.parse(address), privateKey: bytes32Schema.parse(privateKey) }
}

/** Sends a call of the registry without asking first whether it would revert. Resolves with whether it took effect. */
export async function callRegistry(
  { sandbox, contracts }: Desk,
  from: SandboxAccount,
  method: string,
  args: readonly unknown[],
): Promise<boolean> {
  const wallet = new Wallet(from.privateKey, sandbox.provider)
  const registry = new Contract(contracts.registry.address, institutionRegistryAbi, wallet)
  const { hash } = await registry.getFunction(method).send(...args, { gasLimit: 500_000n })
  return (await waitForReceipt(sandbox.provider, hash))?.status === 1
}
