import { orderEscrowErrors } from '../chain/generated/orderEscrowAbi.js'

/** The escrow's, with the errors of every contract that it calls. */
export const ESCROW_ABI = [
  'function openBuy(bytes32 orderId, bytes32 commit, uint256 amount, uint64 deadline)',
  'function openBuyFor((address account, bytes32 orderId, bytes32 commit, uint256 amount, uint64 deadline, uint64 validBefore) o, bytes signature)',
  'function openDeposit(bytes32 orderId, bytes32 commit, bytes32 symbol, uint256 amount, uint64 deadline)',
  'function openRequest(bytes32 orderId, bytes32 commit, uint64 deadline)',
  'function openRequestFor((address account, bytes32 orderId, bytes32 commit, uint64 deadline, uint64 validBefore) o, bytes signature)',
  'function orders(bytes32 orderId) view returns (address account, uint256 amount, uint64 deadline, bytes32 commit, bytes32 orgId, uint8 state, bytes32 symbol, uint256 shares)',
  'function takenBy(bytes16 idHead) view returns (address)',
  'function buyNonce(bytes32 orderId, bytes32 commit, uint64 deadline) pure returns (bytes32)',
  'function reclaim(bytes32 orderId)',
  'function claim(bytes32 asset, address to)',
  'function claimRecipientOf(address account, bytes32 asset) view returns (address)',
  'function claims(address account, bytes32 asset) view returns (uint256 amount)',
  ...orderEscrowErrors,
  'error NotAdmitted(bytes32 orgId)',
  'error Leaving(address wallet, uint64 effectiveAt)',
  'error PlatformPaused(uint64 until)',
  'error WalletFrozen(bytes32 symbol, address wallet)',
]
