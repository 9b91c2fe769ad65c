// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

import {EnclaveAuthorized} from "./EnclaveAuthorized.sol";
import {EquityToken} from "./EquityToken.sol";

/**
 * @title The pooled USDC and shares of the whole platform.
 *
 * @dev Batches keep the supply of a symbol's shares equal to what the broker holds. They are separate from
 * settlements, so that a batch does not show one fill's size. An authorization of a batch carries the
 * supply that it was computed from and the symbol's next batch number: without the number, mint 5, burn 5,
 * mint 5 would repeat a digest and be refused for ever.
 */
contract PlatformPool is EnclaveAuthorized, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    /// @notice Authorization to mint shares to the pool.
    struct BatchMint {
        bytes32 symbol;
        uint256 amount;
        uint256 expectedSupply;
        uint64 batch;
    }

    /// @notice Authorization to burn shares of the pool.
    struct BatchBurn {
        bytes32 symbol;
        uint256 amount;
        uint256 expectedSupply;
        uint64 batch;
    }

    bytes32 private constant BATCH_MINT_TYPEHASH =
        keccak256("BatchMint(bytes32 symbol,uint256 amount,uint256 expectedSupply,uint64 batch)");
    bytes32 private constant BATCH_BURN_TYPEHASH =
        keccak256("BatchBurn(bytes32 symbol,uint256 amount,uint256 expectedSupply,uint64 batch)");

    /// @dev How a payout names USDC.
    bytes32 private constant USDC_ASSET = "USDC";

    /// @notice The USDC token.
    IERC20 public immutable usdc;

    /// @notice The shares.
    EquityToken public immutable token;

    /// @notice The one contract that may pay out.
    address public immutable escrow;

    /// @notice The only address that {transferTreasury} can move USDC to.
    address public immutable brokerFunding;

    mapping(bytes32 symbol => uint64) private _lastBatch;

    /// @notice Shares were minted to the pool; `supply` is the symbol's supply after it.
    event BatchMinted(bytes32 indexed symbol, uint256 amount, uint256 supply);

    /// @notice Shares of the pool were burned; `supply` is the symbol's supply after it.
    event BatchBurned(bytes32 indexed symbol, uint256 amount, uint256 supply);

    /// @notice The symbol's next batch is `expected`, but the authorization carries `got`.
    error BatchConflict(uint64 expected, uint64 got);

    /// @notice The symbol's supply is `expected`, but the authorization was computed from `got`.
    error SupplyConflict(uint256 expected, uint256 got);

    /// @notice The pool holds `available` of the asset, less than `needed`.
    error PoolShort(bytes32 asset, uint256 available, uint256 needed);

    /// @notice `caller` is not the escrow.
    error NotEscrow(address expected, address caller);

    /// @notice An amount that must not be zero is zero.
    error ZeroAmount();

    constructor(
        address owner_,
        address enclaveSigner_,
        IERC20 usdc_,
        EquityToken token_,
        address escrow_,
        address brokerFunding_
    ) EnclaveAuthorized("PlatformPool", owner_, enclaveSigner_) {
        require(brokerFunding_ != address(0), ZeroAddress());
        usdc = usdc_;
        token = token_;
        escrow = escrow_;
        brokerFunding = brokerFunding_;
    }

    /**
     * @notice Mints shares to the pool.
     *
     * Requirements:
     * - the enclave's signature over the authorization, not used before;
     * - `batch` is {nextBatch} of the symbol;
     * - `expectedSupply` is the symbol's supply before the batch;
     * - `amount` is not zero; the symbol is a well-formed name and not `USDC`.
     *
     * Emits {BatchMinted}.
     */
    function mintBatch(BatchMint calldata authorization, bytes calldata signature) external nonReentrant {
        _authorize(hashBatchMint(authorization), signature);
        bytes32 symbol = authorization.symbol;
        uint256 amount = authorization.amount;
        uint256 supply = _nextBatch(symbol, amount, authorization.expectedSupply, authorization.batch);
        emit BatchMinted(symbol, amount, supply + amount);
        token.mint(symbol, amount);
    }

    /**
     * @notice Burns shares of the pool.
     *
     * Requirements:
     * - the enclave's signature over the authorization, not used before;
     * - `batch` is {nextBatch} of the symbol;
     * - `expectedSupply` is the symbol's supply before the batch;
     * - `amount` is not zero, and the pool holds it.
     *
     * Emits {BatchBurned}.
     */
    function burnBatch(BatchBurn calldata authorization, bytes calldata signature) external nonReentrant {
        _authorize(hashBatchBurn(authorization), signature);
        bytes32 symbol = authorization.symbol;
        uint256 amount = authorization.amount;
        uint256 supply = _nextBatch(symbol, amount, authorization.expectedSupply, authorization.batch);
        _requireHeld(symbol, token.balanceOf(address(this), uint256(symbol)), amount);
        emit BatchBurned(symbol, amount, supply - amount);
        token.burn(symbol, amount);
    }

    /**
     * @notice Pays an order's account, as part of its settlement: `asset` is `USDC` or an equity's symbol.
     *
     * Requirements:
     * - the caller is the escrow;
     * - the pool holds `amount` of the asset;
     * - shares: `to` has passed KYC and is not frozen in the symbol.
     */
    function payout(address to, bytes32 asset, uint256 amount) external nonReentrant {
        require(msg.sender == escrow, NotEscrow(escrow, msg.sender));
        if (asset == USDC_ASSET) {
            _sendUsdc(to, amount);
        } else {
            _requireHeld(asset, token.balanceOf(address(this), uint256(asset)), amount);
            token.transfer(to, uint256(asset), amount);
        }
    }

    /**
     * @notice Adds USDC of the caller to the pool. It is a gift: nothing is credited for it.
     *
     * Requirements:
     * - `amount` is not zero, and approved to this contract by the caller.
     */
    function fund(uint256 amount) external nonReentrant {
        require(amount > 0, ZeroAmount());
        usdc.safeTransferFrom(msg.sender, address(this), amount);
    }

    /**
     * @notice Moves USDC to the broker's funding address, and nowhere else.
     *
     * Requirements:
     * - the caller is the owner;
     * - `amount` is not zero, and the pool holds it.
     */
    function transferTreasury(uint256 amount) external nonReentrant onlyOwner {
        require(amount > 0, ZeroAmount());
        _sendUsdc(brokerFunding, amount);
    }

    /// @notice The number that a symbol's next batch carries; the first one's is 1.
    function nextBatch(bytes32 symbol) public view returns (uint64) {
        return _lastBatch[symbol] + 1;
    }

    /// @notice The EIP-712 digest that the enclave signs for {mintBatch}.
    function hashBatchMint(BatchMint calldata a) public view returns (bytes32) {
        return _hashTypedDataV4(
            keccak256(abi.encode(BATCH_MINT_TYPEHASH, a.symbol, a.amount, a.expectedSupply, a.batch))
        );
    }

    /// @notice The EIP-712 digest that the enclave signs for {burnBatch}.
    function hashBatchBurn(BatchBurn calldata a) public view returns (bytes32) {
        return _hashTypedDataV4(
            keccak256(abi.encode(BATCH_BURN_TYPEHASH, a.symbol, a.amount, a.expectedSupply, a.batch))
        );
    }

    /// @dev Takes the symbol's next batch number; returns its supply before the batch.
    function _nextBatch(bytes32 symbol, uint256 amount, uint256 expectedSupply, uint64 batch)
        private
        returns (uint256 supply)
    {
        require(amount > 0, ZeroAmount());
        uint64 next = nextBatch(symbol);
        require(batch == next, BatchConflict(next, batch));
        supply = token.totalSupply(uint256(symbol));
        require(expectedSupply == supply, SupplyConflict(supply, expectedSupply));
        _lastBatch[symbol] = batch;
    }

    function _sendUsdc(address to, uint256 amount) private {
        _requireHeld(USDC_ASSET, usdc.balanceOf(address(this)), amount);
        usdc.safeTransfer(to, amount);
    }

    function _requireHeld(bytes32 asset, uint256 available, uint256 needed) private pure {
        require(available >= needed, PoolShort(asset, available, needed));
    }
}
