import { Interface } from 'ethers'
import { authorityAbi } from './generated/authorityAbi.js'
import { confidentialLedgerAbi } from './generated/confidentialLedgerAbi.js'
import { corporateActionsAbi } from './generated/corporateActionsAbi.js'
import { equitySharesAbi } from './generated/equitySharesAbi.js'
import { equityTokenAbi } from './generated/equityTokenAbi.js'
import { institutionRegistryAbi } from './generated/institutionRegistryAbi.js'
import { orderEscrowAbi } from './generated/orderEscrowAbi.js'
import { platformPoolAbi } from './generated/platformPoolAbi.js'

/** The used part of USDC: ERC-20 and EIP-3009, with OpenZeppelin's errors. https://eips.ethereum.org/EIPS/eip-3009 */
const erc20Abi = [
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function balanceOf(address owner) view returns (uint256)',
  'function totalSupply() view returns (uint256)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function approve(address spender, uint256 amount) returns (bool)',
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
  'error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)',
  'error ERC3009InvalidSignature()',
  'error ERC3009UsedAuthorization(address authorizer, bytes32 nonce)',
]

/** Encoders and decoders of the contracts, parsed once per process: ethers needs milliseconds for each ABI. */
export const interfaces = {
  orderEscrow: new Interface(orderEscrowAbi),
  confidentialLedger: new Interface(confidentialLedgerAbi),
  platformPool: new Interface(platformPoolAbi),
  equityToken: new Interface(equityTokenAbi),
  equityShares: new Interface(equitySharesAbi),
  institutionRegistry: new Interface(institutionRegistryAbi),
  authority: new Interface(authorityAbi),
  corporateActions: new Interface(corporateActionsAbi),
  usdc: new Interface(erc20Abi),
}
