// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

import {IEnclaveAuthorized} from "./IEnclaveAuthorized.sol";
import {IEquityToken} from "./IEquityToken.sol";

/**
 * @title The pooled USDC and shares of the whole platform.
 *
 * @dev Batches keep the supply of a symbol's shares equal to the broker's holding. They are separate from
 * settlements, so a batch does not reveal one fill's size. A batch authorization carries the supply that it was
 * computed from, the corporate actions up to then, and the symbol's next batch number. The supply
 * alone does not show a split, because it may be zero. Without the batch number, the second mint of mint 5, burn 5, mint 5 would have
 * the digest of the first, and revert.
 */
interface IPlatformPool is IEnclaveAuthorized {
    /// @notice Authorization to mint shares to the pool.
    struct BatchMint {
        bytes32 symbol;
        uint256 amount;
        uint256 expectedSupply;
        uint64 batch;
        uint64 countedUntil;
        bytes32 actions;
    }

    /// @notice Authorization to burn shares of the pool.
    struct BatchBurn {
        bytes32 symbol;
        uint256 amount;
        uint256 expectedSupply;
        uint64 batch;
        uint64 countedUntil;
        bytes32 actions;
    }

    /// @notice Shares were minted to the pool; `supply` is the symbol's supply after it.
    event BatchMinted(bytes32 indexed symbol, uint256 amount, uint256 supply);

    /// @notice Shares of the pool were burned; `supply` is the symbol's supply after it.
    event BatchBurned(bytes32 indexed symbol, uint256 amount, uint256 supply);

    /// @notice `from` added USDC to the pool.
    event Funded(address indexed from, uint256 amount);

    /// @notice The owner moved USDC to the broker's funding address.
    event TreasuryMoved(address indexed to, uint256 amount);

    /// @notice The symbol's next batch is `expected`, but the authorization carries `got`.
    error BatchConflict(uint64 expected, uint64 got);

    /// @notice The symbol's supply is `expected`, but the authorization was computed from `got`.
    error SupplyConflict(uint256 expected, uint256 got);

    /// @notice Fills until `countedUntil`, which is later than `got`, have already been counted.
    error CountedAlready(uint64 countedUntil, uint64 got);

    /// @notice The pool holds `available` of the asset, less than `needed`.
    error PoolShort(bytes32 asset, uint256 available, uint256 needed);

    /// @notice The USDC token.
    function usdc() external view returns (IERC20);

    /// @notice The shares.
    function token() external view returns (IEquityToken);

    /// @notice The only contract that may call {payout}.
    function escrow() external view returns (address);

    /// @notice The only address that {transferTreasury} can move USDC to.
    function brokerFunding() external view returns (address);

    /**
     * @notice Mints shares to the pool.
     *
     * Requirements:
     * - the platform is not paused;
     * - the enclave signed the authorization, and it was not used before;
     * - `batch` is {nextBatch} of the symbol;
     * - `expectedSupply` is the symbol's supply before the batch, and `actions` is {ICorporateActions-listHash};
     * - `countedUntil` is not before {countedUntil} of the symbol;
     * - `amount` is not zero; the symbol is a well-formed name and not `USDC`.
     *
     * Emits {BatchMinted}.
     */
    function mintBatch(BatchMint calldata authorization, bytes calldata signature) external;

    /**
     * @notice Burns shares of the pool.
     *
     * Requirements:
     * - the platform is not paused;
     * - the enclave signed the authorization, and it was not used before;
     * - `batch` is {nextBatch} of the symbol;
     * - `expectedSupply` is the symbol's supply before the batch, and `actions` is {ICorporateActions-listHash};
     * - `countedUntil` is not before {countedUntil} of the symbol;
     * - `amount` is not zero, and the pool holds it.
     *
     * Emits {BatchBurned}.
     */
    function burnBatch(BatchBurn calldata authorization, bytes calldata signature) external;

    /**
     * @notice Pays an order's account as part of its settlement: `asset` is `USDC` or an equity's symbol. Returns false
     *   if the account cannot receive it; the escrow then holds the amount for a claim.
     *
     * Requirements:
     * - the caller is the escrow;
     * - the pool holds `amount` of the asset;
     * - `to` or the escrow can receive it: only the recipient's own failure creates a claim.
     */
    function payout(address to, bytes32 asset, uint256 amount) external returns (bool paid);

    /**
     * @notice Adds USDC of the caller to the pool, as a gift without credit.
     *
     * Requirements:
     * - `amount` is not zero, held by the caller, and approved to this contract.
     *
     * Emits {Funded}.
     */
    function fund(uint256 amount) external;

    /**
     * @notice Moves USDC to the broker's funding address, and nowhere else.
     *
     * Requirements:
     * - the caller is the owner;
     * - `amount` is not zero, and the pool holds it.
     *
     * Emits {TreasuryMoved}.
     */
    function transferTreasury(uint256 amount) external;

    /// @notice The number of a symbol's next batch; the first batch is 1.
    function nextBatch(bytes32 symbol) external view returns (uint64);

    /// @notice Unix milliseconds until which the symbol's batches include all fills. A batch minted for a withdrawal
    /// includes no fill and does not change this time.
    function countedUntil(bytes32 symbol) external view returns (uint64);

    /// @notice The EIP-712 digest that the enclave signs for {mintBatch}.
    function hashBatchMint(BatchMint calldata a) external view returns (bytes32);

    /// @notice The EIP-712 digest that the enclave signs for {burnBatch}.
    function hashBatchBurn(BatchBurn calldata a) external view returns (bytes32);
}
