// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IEquityToken} from "./IEquityToken.sol";
import {IGoverned} from "./IGoverned.sol";

/**
 * @title Splits, dividends, symbol changes and removals: a public list that only grows.
 *
 * @dev Nothing here says who holds what. The owner proposes an action. It enters the list when anyone enacts it, once
 * {IAuthority-rotationDelay} and its record moment have passed. Until then it is on chain for everyone to see, and the owner can
 * withdraw it. Actions of one symbol enter in the order of their record moments, so the order of two calls cannot change
 * their result.
 *
 * Amounts of shares on chain follow the ratios of their symbol by themselves, rounded down: balances and supply of
 * {IEquityShares}, deposits and claims of {IOrderEscrow}. Each amount is stored with the number of ratios that it includes, and
 * {carry} applies the others. The parts, each rounded down, never exceed the whole, so pool and escrow can pay
 * what they owe. Portfolios follow when the enclave opens them.
 */
interface ICorporateActions is IGoverned {
    enum Kind {
        SPLIT,
        STOCK_DIVIDEND,
        ENTITLEMENT,
        PAYMENT,
        SYMBOL_CHANGE,
        REMOVAL
    }

    /**
     * @notice An action. Fields that its kind does not use are zero.
     *
     * - SPLIT, STOCK_DIVIDEND: `denominator` shares become `numerator`; a stock dividend of 5 % is 21 for 20.
     * - ENTITLEMENT: the ex-date of a cash dividend. Shares that are held at `recordAt` have a claim to it.
     * - PAYMENT: the broker has booked the dividend of the ENTITLEMENT at that place in the list. It pays `numerator` /
     *   `denominator` USDC base units for each share, net of withholding; none if it was cancelled.
     * - SYMBOL_CHANGE: shares of `symbol` are shares of `successor`.
     * - REMOVAL: the shares are worthless. ERC-20 balances stay as they are.
     */
    struct Action {
        Kind kind;
        uint64 recordAt;
        uint64 numerator;
        uint64 denominator;
        uint32 entitlement;
        bytes32 symbol;
        bytes32 successor;
    }

    /// @notice The owner proposed an action, which can be enacted from `effectiveAt` on.
    event ActionProposed(bytes32 indexed digest, bytes32 indexed symbol, Action action, uint64 effectiveAt);

    /// @notice The owner withdrew a proposed action.
    event ActionWithdrawn(bytes32 indexed digest);

    /// @notice An action entered the list at `index`. From now on amounts of its symbol follow its ratio.
    event ActionEnacted(uint256 indexed index, bytes32 indexed digest, bytes32 indexed symbol, Action action);

    /// @notice A field does not fit the action's kind, or a ratio is out of range.
    error MalformedAction();

    /// @notice The action is in the list, or is proposed already.
    error ActionKnown(bytes32 digest);

    /// @notice No such action is proposed.
    error NoAction(bytes32 digest);

    /// @notice The action can be enacted from `effectiveAt` on; the block's time is `currentTime`.
    error ActionTooEarly(uint64 effectiveAt, uint256 currentTime);

    /// @notice The symbol has changed or was removed, or has already taken the place of another.
    error SymbolRetired(bytes32 symbol);

    /// @notice The dividend at this place in the list has been paid.
    error DividendPaid(uint32 entitlement);

    /// @notice The proposed action with this digest must be enacted or withdrawn first.
    error ActionOutOfOrder(bytes32 digest);

    /// @notice The equity whose symbol would change to this one has {MAX_NAMES} names.
    error TooManyNames(bytes32 successor);

    /// @notice The symbol has {MAX_RATIOS} ratios.
    error TooManyRatios(bytes32 symbol);

    /// @notice The ratio would make `supply` of the symbol, more than {MAX_SUPPLY}.
    error SupplyTooLarge(bytes32 symbol, uint256 supply);

    /// @notice The list's {listHash} is `expected`, but the authorization was computed after the list of `got`.
    error ActionsConflict(bytes32 expected, bytes32 got);

    /// @notice The most by which an action multiplies or divides shares.
    function MAX_RATIO() external view returns (uint64);

    /// @notice The most splits and stock dividends of a symbol: {carry} takes as many steps.
    function MAX_RATIOS() external view returns (uint256);

    /// @notice The most names that an equity can have had: a transfer reads the freezes of each.
    function MAX_NAMES() external view returns (uint256);

    /// @notice The largest supply of a symbol after mints and ratios, in base units: 2^128 − 1. No amount that follows a ratio overflows.
    function MAX_SUPPLY() external view returns (uint256);

    /// @notice The shares.
    function token() external view returns (IEquityToken);

    /**
     * @notice Proposes an action.
     *
     * Requirements:
     * - the caller is the owner;
     * - the fields fit the kind; a ratio is not 1, and neither it nor its inverse is above {MAX_RATIO};
     * - `symbol` and `successor` are well-formed names, different, and not `USDC`;
     * - a PAYMENT's ENTITLEMENT is in the list, and is of the same symbol;
     * - the same action is neither in the list nor proposed.
     *
     * Emits {ActionProposed}.
     */
    function propose(Action calldata action) external;

    /**
     * @notice Withdraws a proposed action.
     *
     * Requirements:
     * - the caller is the owner;
     * - the action is proposed.
     *
     * Emits {ActionWithdrawn}.
     */
    function withdraw(bytes32 digest) external;

    /**
     * @notice Puts a proposed action into the list. Anyone may call it.
     *
     * Requirements:
     * - the platform is not paused;
     * - the action is proposed, and {effectiveAt} has come;
     * - no other proposed action that names `symbol` or `successor` comes first: one with an earlier `recordAt`, or one with the same that
     *   was proposed earlier. A PAYMENT neither waits nor is waited for;
     * - a ratio, a symbol change and a removal: the symbol has not been retired;
     * - a symbol change: no symbol has become `successor`, it has not been retired, and the equity has fewer than {MAX_NAMES} names;
     * - a PAYMENT: its dividend was not paid yet;
     * - a ratio: the symbol, and those that became it, have fewer than {MAX_RATIOS}, and a supply of at most {MAX_SUPPLY} after it.
     *
     * Emits {ActionEnacted}.
     */
    function enact(Action calldata action) external;

    /// @notice Identifies an action: `keccak256(abi.encode(action))`.
    function digestOf(Action calldata action) external pure returns (bytes32);

    /// @notice Unix seconds from which a proposed action can be enacted; 0 if it is not proposed, 2^64 − 1 if it is in the list.
    function effectiveAt(bytes32 digest) external view returns (uint64);

    /// @notice The number of actions in the list.
    function count() external view returns (uint256);

    /// @notice The running hash of the list, zero at first. Each action sets it to `keccak256(abi.encode(before, digest))`.
    function listHash() external view returns (bytes32);

    /// @notice The number of actions when {listHash} was `hash`; 0 if it never was, or if the list was empty.
    function countAt(bytes32 hash) external view returns (uint256);

    /**
     * @notice Reverts with {ActionsConflict} unless {listHash} is `got`, or was once: a portfolio that followed other actions, which a
     * reorganization has replaced, is not written.
     */
    function requirePrefix(bytes32 got) external view;

    /// @notice Reverts with {ActionsConflict} unless {listHash} is `got`: an amount of shares that was computed before an action is void.
    function requireWhole(bytes32 got) external view;

    /// @notice The actions of the list from `from` on, and before `to`.
    function list(uint256 from, uint256 to) external view returns (Action[] memory actions);

    /// @notice Whether the symbol has changed or was removed: it is no equity's any more, and cannot be listed.
    function isRetired(bytes32 symbol) external view returns (bool);

    /// @notice Every name of the equity that has, or had, the symbol: the oldest first, the present one last.
    function namesOf(bytes32 symbol) external view returns (bytes32[] memory names);

    /**
     * @notice What an amount of shares has become that includes the first `from` ratios of its symbol, each step rounded down; and the
     * number of ratios that it then includes.
     */
    function carry(bytes32 symbol, uint256 amount, uint256 from) external view returns (uint256 carried, uint16 ratios);
}
