// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

import {Authority} from "./Authority.sol";
import {EnclaveAuthorized} from "./EnclaveAuthorized.sol";
import {EquityToken} from "./EquityToken.sol";

/**
 * @title The pooled USDC and shares of the whole platform.
 *
 * @dev Batches keep the supply of a symbol's shares equal to the broker's holding. They are separate from
 * settlements, so a batch does not reveal one fill's size. A batch authorization carries the supply that it was
 * computed from and the symbol's next batch number. Without the number, mint 5, burn 5, mint 5 would repeat a digest
 * and always revert.
 */
contract PlatformPool is EnclaveAuthorized, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    /// @notice Authorization to mint shares to the pool.
    struct BatchMint {
        bytes32 symbol;
        uint256 amount;
        uint256 expectedSupply;
        uint64 batch;
        uint64 countedUntil;
    }

    /// @notice Authorization to burn shares of the pool.
    struct BatchBurn {
        bytes32 symbol;
        uint256 amount;
        uint256 expectedSupply;
        uint64 batch;
        uint64 countedUntil;
    }

    bytes32 private constant BATCH_MINT_TYPEHASH =
        keccak256("BatchMint(bytes32 symbol,uint256 amount,uint256 expectedSupply,uint64 batch,uint64 countedUntil)");
    bytes32 private constant BATCH_BURN_TYPEHASH =
        keccak256("BatchBurn(bytes32 symbol,uint256 amount,uint256 expectedSupply,uint64 batch,uint64 countedUntil)");

    /// @dev The name of USDC in payouts.
    bytes32 private constant USDC_ASSET = "USDC";

    /// @notice The USDC token.
    IERC20 public immutable usdc;

    /// @notice The shares.
    EquityToken public immutable token;

    /// @notice The only contract that may call {payout}.
    address public immutable escrow;

    /// @notice The only address that {transferTreasury} can move USDC to.
    address public immutable brokerFunding;

    /// @dev A symbol's last batch, and the time until which fills have been counted in batches.
    struct Batch {
        uint64 number;
        uint64 countedUntil;
    }

    mapping(bytes32 symbol => Batch) private _lastBatch;

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

    /// @notice `caller` is not the escrow.
    error NotEscrow(address expected, address caller);

    /// @notice An amount that must not be zero is zero.
    error ZeroAmount();

    /// @notice An address that must not be zero is zero.
    error ZeroAddress();

    constructor(
        Authority authority_,
        IERC20 usdc_,
        EquityToken token_,
        address escrow_,
        address brokerFunding_
    ) EnclaveAuthorized("PlatformPool", authority_) {
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
     * - the platform is not paused;
     * - the enclave signed the authorization, and it was not used before;
     * - `batch` is {nextBatch} of the symbol;
     * - `expectedSupply` is the symbol's supply before the batch;
     * - `countedUntil` is not before {countedUntil} of the symbol;
     * - `amount` is not zero; the symbol is a well-formed name and not `USDC`.
     *
     * Emits {BatchMinted}.
     */
    function mintBatch(BatchMint calldata authorization, bytes calldata signature) external nonReentrant {
        _authorize(hashBatchMint(authorization), signature);
        bytes32 symbol = authorization.symbol;
        uint256 amount = authorization.amount;
        uint256 supply = _nextBatch(
            symbol, amount, authorization.expectedSupply, Batch(authorization.batch, authorization.countedUntil)
        );
        emit BatchMinted(symbol, amount, supply + amount);
        token.mint(symbol, amount);
    }

    /**
     * @notice Burns shares of the pool.
     *
     * Requirements:
     * - the platform is not paused;
     * - the enclave signed the authorization, and it was not used before;
     * - `batch` is {nextBatch} of the symbol;
     * - `expectedSupply` is the symbol's supply before the batch;
     * - `countedUntil` is not before {countedUntil} of the symbol;
     * - `amount` is not zero, and the pool holds it.
     *
     * Emits {BatchBurned}.
     */
    function burnBatch(BatchBurn calldata authorization, bytes calldata signature) external nonReentrant {
        _authorize(hashBatchBurn(authorization), signature);
        bytes32 symbol = authorization.symbol;
        uint256 amount = authorization.amount;
        uint256 supply = _nextBatch(
            symbol, amount, authorization.expectedSupply, Batch(authorization.batch, authorization.countedUntil)
        );
        _requireHeld(symbol, token.balanceOf(address(this), symbol), amount);
        emit BatchBurned(symbol, amount, supply - amount);
        token.burn(symbol, amount);
    }

    /**
     * @notice Pays an order's account as part of its settlement: `asset` is `USDC` or an equity's symbol. Returns false
     *   if the account cannot receive it; the escrow then holds the amount for a claim.
     *
     * Requirements:
     * - the caller is the escrow;
     * - the pool holds `amount` of the asset;
     * - `to` or the escrow can receive it: only the recipient's own failure creates a claim.
     */
    function payout(address to, bytes32 asset, uint256 amount) external nonReentrant returns (bool paid) {
        require(msg.sender == escrow, NotEscrow(escrow, msg.sender));
        bool isUsdc = asset == USDC_ASSET;
        _requireHeld(
            asset, isUsdc ? usdc.balanceOf(address(this)) : token.balanceOf(address(this), asset), amount
        );
        IERC20 paying = isUsdc ? usdc : token.sharesOf(asset);
        // A transfer that runs out of gas leaves too little for the transfer to the escrow, so everything reverts.
        paid = paying.trySafeTransfer(to, amount);
        if (!paid) paying.safeTransfer(escrow, amount);
    }

    /**
     * @notice Adds USDC of the caller to the pool, as a gift without credit.
     *
     * Requirements:
     * - `amount` is not zero, held by the caller, and approved to this contract.
     */
    function fund(uint256 amount) external nonReentrant {
        require(amount > 0, ZeroAmount());
        emit Funded(msg.sender, amount);
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
        _requireHeld(USDC_ASSET, usdc.balanceOf(address(this)), amount);
        emit TreasuryMoved(brokerFunding, amount);
        usdc.safeTransfer(brokerFunding, amount);
    }

    /// @notice The number of a symbol's next batch; the first batch is 1.
    function nextBatch(bytes32 symbol) public view returns (uint64) {
        return _lastBatch[symbol].number + 1;
    }

    /// @notice Unix milliseconds until which the symbol's batches include all fills. A batch minted for a withdrawal
    /// includes no fill and does not change this time.
    function countedUntil(bytes32 symbol) external view returns (uint64) {
        return _lastBatch[symbol].countedUntil;
    }

    /// @notice The EIP-712 digest that the enclave signs for {mintBatch}.
    function hashBatchMint(BatchMint calldata a) public view returns (bytes32) {
        return _hashTypedDataV4(
            keccak256(
                abi.encode(BATCH_MINT_TYPEHASH, a.symbol, a.amount, a.expectedSupply, a.batch, a.countedUntil)
            )
        );
    }

    /// @notice The EIP-712 digest that the enclave signs for {burnBatch}.
    function hashBatchBurn(BatchBurn calldata a) public view returns (bytes32) {
        return _hashTypedDataV4(
            keccak256(
                abi.encode(BATCH_BURN_TYPEHASH, a.symbol, a.amount, a.expectedSupply, a.batch, a.countedUntil)
            )
        );
    }

    /// @dev Takes the symbol's next batch number; returns its supply before the batch.
    function _nextBatch(bytes32 symbol, uint256 amount, uint256 expectedSupply, Batch memory batch)
        private
        returns (uint256 supply)
    {
        require(amount > 0, ZeroAmount());
        uint64 next = nextBatch(symbol);
        require(batch.number == next, BatchConflict(next, batch.number));
        uint64 counted = _lastBatch[symbol].countedUntil;
        require(batch.countedUntil >= counted, CountedAlready(counted, batch.countedUntil));
        supply = token.totalSupply(symbol);
        require(expectedSupply == supply, SupplyConflict(supply, expectedSupply));
        _lastBatch[symbol] = batch;
    }

    function _requireHeld(bytes32 asset, uint256 available, uint256 needed) private pure {
        require(available >= needed, PoolShort(asset, available, needed));
    }
}
