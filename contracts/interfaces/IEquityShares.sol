// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";

import {ICorporateActions} from "./ICorporateActions.sol";
import {IEquityToken} from "./IEquityToken.sol";
import {ISweepable} from "./ISweepable.sol";

/**
 * @title The shares of one equity, as wallets show and hold them: ERC-20 with 9 decimals, and EIP-2612.
 *
 * @dev Each equity has a clone (ERC-1167) of one implementation, made by {IEquityToken}. The symbol stands behind the clone's
 * code, so that there is nothing to initialize. {IEquityToken} has the flags, and decides about every transfer.
 *
 * Balances and supply follow the splits and stock dividends of the equity by themselves, each rounded down: {balanceOf} and
 * {totalSupply} apply what an account's stored balance does not include yet. Its next transfer, or {carry}, stores that and
 * emits a `Transfer` from or to the zero address for the difference. So the balances never add up to more than the supply. An
 * allowance stays the number that it was. Cash dividends go to the shares in portfolios alone.
 *
 * {canSend}, {canReceive}, {canTransfer} and {getFrozenTokens} are those of ERC-7943. Its other functions are left out: no one
 * can move a holder's shares without an allowance, and a freeze is for a whole holding.
 */
interface IEquityShares is IERC20Metadata, ISweepable {
    /// @notice `caller` is not {token}.
    error NotToken(address expected, address caller);

    /// @notice The contract that has the flags, and alone mints and burns.
    function token() external view returns (IEquityToken);

    /// @notice The corporate actions that balances and supply follow.
    function actions() external view returns (ICorporateActions);

    /// @notice Stores an account's balance after all splits and stock dividends. Anyone may call it: {balanceOf} stays the same.
    function carry(address account) external;

    /**
     * @notice Mints shares to the pool.
     *
     * Requirements:
     * - the caller is {token}.
     */
    function mint(uint256 amount) external;

    /**
     * @notice Burns shares of the pool.
     *
     * Requirements:
     * - the caller is {token};
     * - the pool holds `amount`.
     */
    function burn(uint256 amount) external;

    /// @notice The symbol, as the other contracts name the equity.
    function equity() external view returns (bytes32);

    /// @notice Whether the flags let the account send shares (ERC-7943).
    function canSend(address account) external view returns (bool);

    /// @notice Whether the flags let the account receive shares (ERC-7943).
    function canReceive(address account) external view returns (bool);

    /// @notice Whether `from` could transfer `amount` to `to` now (ERC-7943).
    function canTransfer(address from, address to, uint256 amount) external view returns (bool);

    /// @notice The largest `uint256` while the account's holding is frozen, else 0 (ERC-7943).
    function getFrozenTokens(address account) external view returns (uint256);
}
