import type { BlockTag } from 'ethers'
import type { Hex } from '../protocol/hex.js'
import { createContractReader, type ViewCaller } from './contractReader.js'
import { uintValue } from './values.js'

/** ERC-20: what is used of USDC. https://eips.ethereum.org/EIPS/eip-20 */
export const erc20Abi = [
  'function balanceOf(address owner) view returns (uint256)',
  'function totalSupply() view returns (uint256)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function approve(address spender, uint256 amount) returns (bool)',
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
  'error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)',
]

/** Views of USDC; amounts in base units (6 decimals). */
export interface Usdc {
  readonly address: Hex
  balanceOf(owner: Hex, block?: BlockTag): Promise<bigint>
  totalSupply(block?: BlockTag): Promise<bigint>
}

export function createUsdc(caller: ViewCaller, address: Hex): Usdc {
  const { read } = createContractReader(caller, address, erc20Abi)
  return {
    address,
    balanceOf: (owner, block) => read('balanceOf', [owner], uintValue, block),
    totalSupply: (block) => read('totalSupply', [], uintValue, block),
  }
}
