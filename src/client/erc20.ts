/** The part of USDC's interface that the client uses: ERC-20, and the domain of EIP-3009. https://eips.ethereum.org/EIPS/eip-3009 */
export const erc20Abi = [
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function balanceOf(address owner) view returns (uint256)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function approve(address spender, uint256 amount) returns (bool)',
]
