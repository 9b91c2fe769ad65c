// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

import {ISweepable} from "./interfaces/ISweepable.sol";

/// @title See {ISweepable}.
abstract contract Sweepable is ISweepable, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    /// @inheritdoc ISweepable
    IERC20 public immutable usdc;

    /// @inheritdoc ISweepable
    address public immutable pool;

    constructor(IERC20 usdc_, address pool_) {
        usdc = usdc_;
        pool = pool_;
    }

    /// @inheritdoc ISweepable
    function sweepUsdc() external nonReentrant {
        uint256 balance = usdc.balanceOf(address(this));
        uint256 accounted = _accountedUsdc();
        require(balance > accounted, NothingToSweep());
        emit UsdcSwept(balance - accounted);
        usdc.safeTransfer(pool, balance - accounted);
    }

    /// @dev USDC base units that the contract accounts for. Only the escrow has any.
    function _accountedUsdc() internal view virtual returns (uint256) {
        return 0;
    }
}
