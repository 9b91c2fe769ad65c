// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {ICorporateActions} from "./ICorporateActions.sol";
import {IEquityShares} from "./IEquityShares.sol";
import {IGoverned} from "./IGoverned.sol";
import {ISweepable} from "./ISweepable.sol";

/**
 * @title The equities: the compliance flags, and the ERC-20 of each equity's shares.
 *
 * @dev An equity is its symbol as `bytes32`. Its shares are an {IEquityShares}, whose address derives from the symbol. The flags,
 * set by the owner:
 * - KYC per wallet and freeze per equity and wallet bind every party to a transfer (sender, receiver, and a
 *   spender who moves another's shares), except pool and escrow. A freeze under one of an equity's names binds all of them
 *   ({ICorporateActions-namesOf});
 * - listing per symbol binds transfers between wallets only: the pool still pays out delisted symbols. Shares under a former name
 *   need the listing of the present one.
 * Minting to and burning from the pool ignore the flags. So does a payout that becomes a claim: the pool can always send
 * shares to the escrow. A wallet's shares reach the escrow only when it takes them for a deposit, listed or not.
 */
interface IEquityToken is IGoverned, ISweepable {
    /// @notice A wallet's KYC flag changed.
    event KycUpdated(address indexed wallet, bool verified);

    /// @notice A symbol was listed or delisted.
    event ListingUpdated(bytes32 indexed symbol, bool listed);

    /// @notice A wallet's holding of a symbol was frozen or released.
    event FreezeUpdated(bytes32 indexed symbol, address indexed wallet, bool frozen);

    /// @notice The wallet's holding of this symbol is frozen, under this name of its equity or another.
    error WalletFrozen(bytes32 symbol, address wallet);

    /// @notice The symbol is not listed, nor is the one that it has changed to.
    error NotListed(bytes32 symbol);

    /// @notice The symbol cannot be an equity's.
    error ReservedSymbol(bytes32 symbol);

    /// @notice `caller` is not the pool.
    error NotPool(address expected, address caller);

    /// @notice `caller` is not {actions}.
    error NotActions(address expected, address caller);

    /// @notice The escrow, which holds the shares of claims. No flag binds it.
    function escrow() external view returns (address);

    /// @notice The corporate actions, which every equity's shares follow.
    function actions() external view returns (ICorporateActions);

    /// @notice The code that every equity's shares run. It holds none itself.
    function sharesImplementation() external view returns (IEquityShares);

    /// @notice Whether a wallet has passed KYC.
    function isKyc(address wallet) external view returns (bool);

    /// @notice Whether a wallet's holding of a symbol is frozen, under any name of its equity.
    function isFrozen(bytes32 symbol, address wallet) external view returns (bool);

    /**
     * @notice Sets a wallet's KYC flag.
     *
     * Requirements:
     * - the caller is the owner.
     *
     * Emits {KycUpdated} when the flag changes.
     */
    function setKyc(address wallet, bool verified) external;

    /**
     * @notice Lists or delists a symbol. The first listing creates the contract of its shares.
     *
     * Requirements:
     * - the caller is the owner;
     * - the symbol is a well-formed name and not `USDC`;
     * - to list it: it has neither changed nor been removed ({ICorporateActions-isRetired}).
     *
     * Emits {ListingUpdated} when the listing changes.
     */
    function setListed(bytes32 symbol, bool listed) external;

    /**
     * @notice Freezes a wallet's holding of an equity, or releases it, under any of its names. The symbol need not be listed.
     *
     * Requirements:
     * - the caller is the owner;
     * - the symbol is a well-formed name and not `USDC`.
     *
     * Emits {FreezeUpdated} for the symbol unless the holding is frozen already; when it is released, for each name that it was frozen
     * under.
     */
    function setFrozen(bytes32 symbol, address wallet, bool frozen) external;

    /**
     * @notice Delists a symbol that has changed or was removed.
     *
     * Requirements:
     * - the caller is {actions}.
     *
     * Emits {ListingUpdated} when the listing changes.
     */
    function retire(bytes32 symbol) external;

    /**
     * @notice Mints shares to the pool. The symbol need not be listed: a fill may arrive after a delisting.
     *
     * Requirements:
     * - the caller is the pool;
     * - the symbol is a well-formed name and not `USDC`.
     */
    function mint(bytes32 symbol, uint256 amount) external;

    /**
     * @notice Burns shares of the pool.
     *
     * Requirements:
     * - the caller is the pool, and holds `amount`.
     */
    function burn(bytes32 symbol, uint256 amount) external;

    /**
     * @notice The contract of an equity's shares: a clone of {sharesImplementation}, by CREATE2 with the symbol as its salt and
     * as its only argument. It exists once the symbol was listed or minted.
     */
    function sharesOf(bytes32 symbol) external view returns (IEquityShares);

    /// @notice The shares of a symbol that a wallet holds, in base units.
    function balanceOf(address owner, bytes32 symbol) external view returns (uint256);

    /// @notice The shares of a symbol that exist, in base units.
    function totalSupply(bytes32 symbol) external view returns (uint256);

    /// @notice Whether a symbol is listed.
    function isListed(bytes32 symbol) external view returns (bool);

    /// @notice Every listed symbol, in no particular order.
    function listedSymbols() external view returns (bytes32[] memory);

    /// @notice Whether the flags let the wallet be party to a transfer of the symbol. No flag binds pool and escrow.
    function isCleared(bytes32 symbol, address wallet) external view returns (bool);

    /**
     * @notice Reverts with {Errors-NotCleared}, {WalletFrozen} or {NotListed} unless the flags let `spender` move shares of the symbol
     * from `from` to `to`.
     */
    function requireTransferable(bytes32 symbol, address spender, address from, address to) external view;
}
