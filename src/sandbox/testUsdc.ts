import { ContractFactory, type Signer } from 'ethers'
import { checksum } from '../protocol/address.js'
import type { Hex } from '../protocol/hex.js'
import { testUsdcAbi, testUsdcBytecode } from './generated/testUsdc.js'

/** Deploys the USDC of local chains, which anyone may mint, and returns its address. */
export async function deployTestUsdc(deployer: Signer): Promise<Hex> {
  const contract = await new ContractFactory(testUsdcAbi, testUsdcBytecode, deployer).deploy()
  await contract.waitForDeployment()
  return checksum(await contract.getAddress())
}
