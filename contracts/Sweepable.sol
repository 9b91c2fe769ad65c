// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

/**
 * @title Recovers USDC that was sent to one of the platform's contracts by mistake, into the pool.
 *
 * @dev Shares need no sweep: {EquityToken} refuses transfers of shares to these contracts.
 */
abstract contract Sweepable is ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    /// @notice The USDC token.
    IERC20 public immutable usdc;

    /// @notice The pool of USDC and shares.
    address public immutable pool;

    /// @notice USDC that had been sent here by mistake went to the pool.
    event UsdcSwept(uint256 amount);

    /// @notice The contract holds no USDC beyond what it accounts for.
    error NothingToSweep();

    constructor(IERC20 usdc_, address pool_) {
        usdc = usdc_;
        pool = pool_;
    }

    /**
     * @notice Moves exactly the unaccounted USDC to the pool. Anyone may call it.
     *
     * Requirements:
     * - the contract holds more USDC than it accounts for.
     */
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
