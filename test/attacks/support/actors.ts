import { Contract, Interface, type Provider, Wallet } from 'ethers'
import * as z from 'zod'
import { institutionRegistryAbi } from '../../../src/chain/generated/institutionRegistryAbi.js'
import { orderEscrowAbi } from '../../../src/chain/generated/orderEscrowAbi.js'
import { waitForReceipt } from '../../../src/chain/waitForReceipt.js'
import { addressSchema, sameAddress } from '../../../src/protocol/address.js'
import { bytes32Schema, type Hex } from '../../../src/protocol/hex.js'
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

export const escrowInterface = new Interface(orderEscrowAbi)
const poolSchema = z.object({
  pending: z.record(z.string(), z.record(z.string(), z.looseObject({ input: z.string() }))),
})

/** This account's transactions in the node's pool, each by the order that it opens with a signature; null for any other. */
export async function pendingOf({ sandbox }: Desk, account: Hex): Promise<(Hex | null)[]> {
  const { pending } = poolSchema.parse(await sandbox.provider.send('txpool_content', []))
  const own = Object.entries(pending).find(([from]) => sameAddress(from, account))
  return Object.values(own?.[1] ?? {}).map(({ input }) => {
    const call = escrowInterface.parseTransaction({ data: input })
    return call?.name === 'openBuyFor' ? bytes32Schema.parse(call.args.getValue('o').orderId) : null
  })
}

const TIP = 100_000_000_000n

/** Takes the first 16 bytes of an order's id as Bob, ahead of all others in the block. */
export async function takePrefix(
  { sandbox, contracts, traders: [, bob] }: Desk,
  orderId: Hex,
  deadline: number,
) {
  const wallet = new Wallet(bob.account.privateKey, sandbox.provider)
  const other = `${orderId.slice(0, 34)}${'00'.repeat(16)}`
  const data = escrowInterface.encodeFunctionData('openRequest', [other, `0x${'0b'.repeat(32)}`, deadline])
  const fees = { maxPriorityFeePerGas: TIP, maxFeePerGas: 2n * TIP, gasLimit: 500_000n }
  return wallet.sendTransaction({ to: contracts.escrow.address, data, ...fees })
}

/** The gas of an account's transactions in all blocks since then. */
export async function gasUsedSince(provider: Provider, account: Hex, block: number): Promise<bigint> {
  let gas = 0n
  for (let number = block + 1; number <= (await provider.getBlockNumber()); number++) {
    for (const hash of (await provider.getBlock(number))?.transactions ?? []) {
      const receipt = await provider.getTransactionReceipt(hash)
      if (receipt && sameAddress(receipt.from, account)) gas += receipt.gasUsed
    }
  }
  return gas
}
