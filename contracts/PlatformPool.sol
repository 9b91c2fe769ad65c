// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

import {Assets} from "./Assets.sol";
import {EnclaveAuthorized} from "./EnclaveAuthorized.sol";
import {Errors} from "./Errors.sol";
import {IAuthority} from "./interfaces/IAuthority.sol";
import {IEquityToken} from "./interfaces/IEquityToken.sol";
import {IPlatformPool} from "./interfaces/IPlatformPool.sol";

/// @title See {IPlatformPool}.
contract PlatformPool is IPlatformPool, EnclaveAuthorized, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    bytes32 private constant BATCH_MINT_TYPEHASH =
        keccak256("BatchMint(bytes32 symbol,uint256 amount,uint256 expectedSupply,uint64 batch,uint64 countedUntil,bytes32 actions)");
    bytes32 private constant BATCH_BURN_TYPEHASH =
        keccak256("BatchBurn(bytes32 symbol,uint256 amount,uint256 expectedSupply,uint64 batch,uint64 countedUntil,bytes32 actions)");

    /// @inheritdoc IPlatformPool
    IERC20 public immutable usdc;

    /// @inheritdoc IPlatformPool
    IEquityToken public immutable token;

    /// @inheritdoc IPlatformPool
    address public immutable escrow;

    /// @inheritdoc IPlatformPool
    address public immutable brokerFunding;

    /// @dev A symbol's last batch, and the time until which fills have been counted in batches.
    struct Batch {
        uint64 number;
        uint64 countedUntil;
    }

    mapping(bytes32 symbol => Batch) private _lastBatch;

    constructor(
        IAuthority authority_,
        IERC20 usdc_,
        IEquityToken token_,
        address escrow_,
        address brokerFunding_
    ) EnclaveAuthorized("PlatformPool", authority_) {
        require(brokerFunding_ != address(0), Errors.ZeroAddress());
        usdc = usdc_;
        token = token_;
        escrow = escrow_;
        brokerFunding = brokerFunding_;
    }

    /// @inheritdoc IPlatformPool
    function mintBatch(BatchMint calldata authorization, bytes calldata signature) external nonReentrant {
        _authorize(hashBatchMint(authorization), signature);
        bytes32 symbol = authorization.symbol;
        uint256 amount = authorization.amount;
        uint256 supply = _nextBatch(
            symbol,
            amount,
            authorization.expectedSupply,
            Batch(authorization.batch, authorization.countedUntil),
            authorization.actions
        );
        emit BatchMinted(symbol, amount, supply + amount);
        token.mint(symbol, amount);
    }

    /// @inheritdoc IPlatformPool
    function burnBatch(BatchBurn calldata authorization, bytes calldata signature) external nonReentrant {
        _authorize(hashBatchBurn(authorization), signature);
        bytes32 symbol = authorization.symbol;
        uint256 amount = authorization.amount;
        uint256 supply = _nextBatch(
            symbol,
            amount,
            authorization.expectedSupply,
            Batch(authorization.batch, authorization.countedUntil),
            authorization.actions
        );
        _requireHeld(symbol, token.balanceOf(address(this), symbol), amount);
        emit BatchBurned(symbol, amount, supply - amount);
        token.burn(symbol, amount);
    }

    /// @inheritdoc IPlatformPool
    function payout(address to, bytes32 asset, uint256 amount) external nonReentrant returns (bool paid) {
        require(msg.sender == escrow, Errors.NotEscrow(escrow, msg.sender));
        bool isUsdc = asset == Assets.USDC;
        _requireHeld(
            asset, isUsdc ? usdc.balanceOf(address(this)) : token.balanceOf(address(this), asset), amount
        );
        IERC20 paying = isUsdc ? usdc : token.sharesOf(asset);
        // A transfer that runs out of gas leaves too little for the transfer to the escrow, so everything reverts.
        paid = paying.trySafeTransfer(to, amount);
        if (!paid) paying.safeTransfer(escrow, amount);
    }

    /// @inheritdoc IPlatformPool
    function fund(uint256 amount) external nonReentrant {
        require(amount > 0, Errors.ZeroAmount());
        emit Funded(msg.sender, amount);
        usdc.safeTransferFrom(msg.sender, address(this), amount);
    }

    /// @inheritdoc IPlatformPool
    function transferTreasury(uint256 amount) external nonReentrant onlyOwner {
        require(amount > 0, Errors.ZeroAmount());
        _requireHeld(Assets.USDC, usdc.balanceOf(address(this)), amount);
        emit TreasuryMoved(brokerFunding, amount);
        usdc.safeTransfer(brokerFunding, amount);
    }

    /// @inheritdoc IPlatformPool
    function nextBatch(bytes32 symbol) public view returns (uint64) {
        return _lastBatch[symbol].number + 1;
    }

    /// @inheritdoc IPlatformPool
    function countedUntil(bytes32 symbol) external view returns (uint64) {
        return _lastBatch[symbol].countedUntil;
    }

    /// @inheritdoc IPlatformPool
    function hashBatchMint(BatchMint calldata a) public view returns (bytes32) {
        return _hashTypedDataV4(
            keccak256(
                abi.encode(BATCH_MINT_TYPEHASH, a.symbol, a.amount, a.expectedSupply, a.batch, a.countedUntil, a.actions)
            )
        );
    }

    /// @inheritdoc IPlatformPool
    function hashBatchBurn(BatchBurn calldata a) public view returns (bytes32) {
        return _hashTypedDataV4(
            keccak256(
                abi.encode(BATCH_BURN_TYPEHASH, a.symbol, a.amount, a.expectedSupply, a.batch, a.countedUntil, a.actions)
            )
        );
    }

    /// @dev Takes the symbol's next batch number; returns its supply before the batch.
    function _nextBatch(
        bytes32 symbol,
        uint256 amount,
        uint256 expectedSupply,
        Batch memory batch,
        bytes32 actions
    ) private returns (uint256 supply) {
        require(amount > 0, Errors.ZeroAmount());
        token.actions().requireWhole(actions);
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
