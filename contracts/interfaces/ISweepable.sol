// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/**
 * @title Recovers USDC that was sent to one of the platform's contracts by mistake, into the pool.
 *
 * @dev Shares need no sweep: {IEquityToken} refuses transfers of shares to these contracts.
 */
interface ISweepable {
    /// @notice USDC that had been sent here by mistake went to the pool.
    event UsdcSwept(uint256 amount);

    /// @notice The contract holds no USDC beyond what it accounts for.
    error NothingToSweep();

    /// @notice The USDC token.
    function usdc() external view returns (IERC20);

    /// @notice The pool of USDC and shares.
    function pool() external view returns (address);

    /**
     * @notice Moves exactly the unaccounted USDC to the pool. Anyone may call it.
     *
     * Requirements:
     * - the contract holds more USDC than it accounts for.
     *
     * Emits {UsdcSwept}.
     */
    function sweepUsdc() external;
}
