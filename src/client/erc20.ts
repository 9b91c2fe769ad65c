/** The part of USDC's interface that the client uses. https://eips.ethereum.org/EIPS/eip-20 */
export const erc20Abi = [
  'function balanceOf(address owner) view returns (uint256)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function approve(address spender, uint256 amount) returns (bool)',
]
