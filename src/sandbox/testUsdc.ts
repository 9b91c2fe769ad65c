import { ContractFactory, type Provider, type Signer } from 'ethers'
import { waitForReceipt } from '../chain/waitForReceipt.js'
import { checksum } from '../protocol/address.js'
import type { Hex } from '../protocol/hex.js'
import { testUsdcAbi, testUsdcBytecode } from './generated/testUsdc.js'

/** Deploys the test USDC, which anyone may mint, and returns its address. */
export async function deployTestUsdc(deployer: Signer, provider: Provider): Promise<Hex> {
  const factory = new ContractFactory(testUsdcAbi, testUsdcBytecode, deployer)
  const { hash } = await deployer.sendTransaction(await factory.getDeployTransaction())
  const receipt = await waitForReceipt(provider, hash)
  if (!receipt?.contractAddress) throw new Error('the test USDC was not deployed')
  return checksum(receipt.contractAddress)
}
