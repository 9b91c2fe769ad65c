// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IConfidentialLedger} from "./IConfidentialLedger.sol";
import {IEnclaveAuthorized} from "./IEnclaveAuthorized.sol";
import {IEquityToken} from "./IEquityToken.sol";
import {IInstitutionRegistry} from "./IInstitutionRegistry.sol";
import {ISignedOpenings} from "./ISignedOpenings.sol";
import {ISweepable} from "./ISweepable.sol";

/**
 * @title Orders. Wallets open them, or sign for others to open them; the enclave ends them; wallets reclaim unanswered ones.
 *
 * @dev `commit = keccak256(ciphertext)` binds an order to one sealed intent. A buy out of the wallet and a deposit of cash
 * carry USDC, a deposit of shares carries shares. Every other order (a sale, a withdrawal, a buy out of confidential cash)
 * opens as a request that shows neither its side nor its size.
 *
 * Money that its recipient cannot receive (USDC has blacklisted the account, its shares are frozen) becomes a claim, so
 * that it does not block the order. Claims are held outside the pool, and the treasury cannot move them.
 */
interface IOrderEscrow is IEnclaveAuthorized, ISignedOpenings, ISweepable {
    /// @notice An order's states: NONE → OPEN → SETTLED or REFUNDED, both final.
    enum State {
        NONE,
        OPEN,
        SETTLED,
        REFUNDED
    }

    /**
     * @notice Authorization to settle an order.
     *
     * `account` to `commit` describe the order that the enclave decided on. `payoutAsset` is `USDC`, a symbol, or
     * zero with `payout` 0. `previous` is {IConfidentialLedger-portfolioHash} before the settlement, `actions` is
     * {ICorporateActions-listHash} of the actions that the portfolio has followed: a payout or a deposit of shares is void once there
     * is one more.
     */
    struct OrderSettlement {
        bytes32 orderId;
        address account;
        bytes32 asset;
        uint256 amount;
        bytes32 commit;
        bytes32 payoutAsset;
        uint256 payout;
        uint64 version;
        bytes32 previous;
        bytes32 actions;
        bytes enclaveBlob;
        bytes userBlob;
    }

    /// @notice Authorization to refund an order. With both blobs empty it writes no portfolio, `version` and
    /// `previous` are the portfolio's current ones, and `actions` is not read.
    struct OrderRefund {
        bytes32 orderId;
        address account;
        bytes32 asset;
        uint256 amount;
        bytes32 commit;
        uint64 version;
        bytes32 previous;
        bytes32 actions;
        bytes enclaveBlob;
        bytes userBlob;
    }

    /// @notice An order was opened. Here and in the events of its end, `amount` is in USDC: 0 for a request and for shares.
    event OrderOpened(
        bytes32 indexed orderId, address indexed account, uint256 amount, uint64 deadline, bytes32 commit
    );

    /// @notice An order was settled: `amount` went to the pool, and `payout` of `payoutAsset` to the account or its
    /// claim ({ClaimMade} then follows).
    event OrderSettled(
        bytes32 indexed orderId, address indexed account, uint256 amount, bytes32 payoutAsset, uint256 payout
    );

    /// @notice An order was refunded or reclaimed: `amount` went back to the account or its claim ({ClaimMade} then
    /// follows).
    event OrderRefunded(bytes32 indexed orderId, address indexed account, uint256 amount);

    /// @notice `account` could not receive `amount` of `asset`, so the escrow holds it as a claim.
    event ClaimMade(address indexed account, bytes32 indexed asset, uint256 amount);

    /// @notice A claim was paid to `to`.
    event ClaimPaid(address indexed account, bytes32 indexed asset, address indexed to, uint256 amount);

    /// @notice The owner allowed the account's claims in `asset` to be paid to `to` (zero: to the account alone).
    event ClaimRecipientApproved(address indexed account, bytes32 indexed asset, address indexed to);

    /// @notice `by` has opened an order whose id has the same first 16 bytes. Remedy: sign again under a new id.
    error OrderIdTaken(bytes32 orderId, address by);

    /// @notice The authorization was computed for another order, for example one that a reorganization has replaced.
    error OrderMismatch(bytes32 orderId);

    /// @notice The account has no claim in this asset.
    error NoClaim(address account, bytes32 asset);

    /// @notice The account's claims in `asset` cannot be paid to `to`.
    error NotClaimRecipient(address account, bytes32 asset, address to);

    /// @notice The deadline is not after the block's time `currentTime`, or is later than `latest`.
    error DeadlineOutOfRange(uint64 deadline, uint64 currentTime, uint64 latest);

    /// @notice The account has `open` open orders, and may have at most `limit`.
    error TooManyOpenOrders(address account, uint256 open, uint256 limit);

    /// @notice The order is in `state`, not OPEN.
    error OrderNotOpen(bytes32 orderId, State state);

    /// @notice The order was not refunded; it is in this state.
    error OrderNotRefunded(bytes32 orderId, State state);

    /// @notice An asset without an amount, or an amount without an asset.
    error InvalidPayout(bytes32 asset, uint256 amount);

    /// @notice `caller` is not the order's account.
    error NotOrderAccount(address expected, address caller);

    /// @notice The order can be reclaimed from `availableAt` on; the block's time is `currentTime`.
    error ReclaimTooEarly(uint256 availableAt, uint256 currentTime);

    /// @notice The most seconds that a deadline may lie ahead.
    function MAX_LIFETIME() external view returns (uint64);

    /// @notice The most orders that an account may have open.
    function MAX_OPEN_ORDERS() external view returns (uint256);

    /// @notice Unix seconds of this contract's deployment block; no order is older.
    function deployedAt() external view returns (uint256);

    /// @notice The registry of institutions and their members.
    function registry() external view returns (IInstitutionRegistry);

    /// @notice The ledger of the portfolios.
    function ledger() external view returns (IConfidentialLedger);

    /// @notice The token contract, which holds the KYC flags.
    function token() external view returns (IEquityToken);

    /// @notice The number of open orders that were opened in an institution (zero: in none).
    function openOrdersOf(bytes32 orgId) external view returns (uint256);

    /// @notice The number of an account's open orders.
    function openOrdersBy(address account) external view returns (uint256);

    /// @notice The amount that an account could not receive and can {claim}, in base units.
    function claims(address account, bytes32 asset) external view returns (uint256);

    /// @notice The sum of all {claims} in an asset.
    function claimed(bytes32 asset) external view returns (uint256);

    /// @notice The other address that may receive an account's claims in an asset, zero for none.
    function claimRecipientOf(address account, bytes32 asset) external view returns (address);

    /**
     * @notice Opens a buy and takes its USDC into escrow.
     *
     * Requirements:
     * - the platform is not paused;
     * - the caller has passed KYC, is in an institution that the platform admits, and is not leaving it;
     * - `amount` is not zero, held by the caller, and approved to this contract;
     * - now < `deadline` ≤ now + 30 days;
     * - the caller has fewer than 20 orders open;
     * - no order's id has the same first 16 bytes.
     *
     * Emits {OrderOpened}.
     */
    function openBuy(bytes32 orderId, bytes32 commit, uint256 amount, uint64 deadline) external;

    /**
     * @notice Opens exactly the buy that `o.account` has signed, and takes its USDC into escrow. Anyone may call it. The
     *   account needs no ether and no approval.
     *
     * Requirements:
     * - now < `o.validBefore`;
     * - those of {openBuy} for `o.account`, except for the approval;
     * - `signature` is the account's, 65 bytes, over USDC's
     *   `ReceiveWithAuthorization(account, this escrow, amount, 0, validBefore, buyNonce(orderId, commit, deadline))`;
     * - the account has not cancelled that nonce at USDC.
     *
     * Emits {OrderOpened}.
     */
    function openBuyFor(BuyOpening calldata o, bytes calldata signature) external;

    /**
     * @notice Opens a sale, a withdrawal, or a buy out of confidential cash, without showing which.
     *
     * Requirements:
     * - the platform is not paused;
     * - the caller has passed KYC (it need not be in an institution: it can always sell and withdraw);
     * - now < `deadline` ≤ now + 30 days;
     * - the caller has fewer than 20 orders open;
     * - no order's id has the same first 16 bytes.
     *
     * Emits {OrderOpened} with an amount of 0.
     */
    function openRequest(bytes32 orderId, bytes32 commit, uint64 deadline) external;

    /**
     * @notice Opens a deposit of shares and takes them into escrow. The symbol need not be listed.
     *
     * Requirements:
     * - those of {openRequest};
     * - `amount` is not zero, held by the caller in `symbol`, and approved to this contract;
     * - the caller's holding of `symbol` is not frozen.
     *
     * Emits {OrderOpened} with an amount of 0.
     */
    function openDeposit(bytes32 orderId, bytes32 commit, bytes32 symbol, uint256 amount, uint64 deadline) external;

    /**
     * @notice Opens exactly the request that `o.account` has signed. Anyone may call it.
     *
     * Requirements:
     * - now < `o.validBefore`;
     * - `signature` is the account's over {hashRequestOpening};
     * - those of {openRequest} for `o.account`.
     *
     * Emits {OrderOpened} with an amount of 0.
     */
    function openRequestFor(RequestOpening calldata o, bytes calldata signature) external;

    /**
     * @notice Ends an order atomically: moves its escrow to the pool, writes the portfolio, pays the payout. A payout
     *   becomes a claim only if the account itself cannot receive it. A settlement may come after the deadline, as long
     *   as the order is open.
     *
     * Requirements:
     * - the platform is not paused;
     * - the enclave signed the authorization, and it was not used before;
     * - the order is open, and is the one that the authorization names;
     * - `payoutAsset` and `payout` are both zero or both non-zero;
     * - for a payout or a deposit of shares, `actions` is {ICorporateActions-listHash};
     * - the requirements of {IConfidentialLedger-writePortfolio} and {IPlatformPool-payout}.
     *
     * Emits {OrderSettled}, {IConfidentialLedger-PortfolioUpdated}, and {ClaimMade} if the payout becomes a claim.
     */
    function settle(OrderSettlement calldata a, bytes calldata signature) external;

    /**
     * @notice Ends an order and returns its escrow, as a claim if the account cannot receive it.
     *
     * Requirements:
     * - the platform is not paused;
     * - the enclave signed the authorization, and it was not used before;
     * - the order is open, and is the one that the authorization names;
     * - with both blobs empty: `version` and `previous` are the portfolio's current ones, so the refund is void once
     *   the order has been written ahead; otherwise the requirements of {IConfidentialLedger-writePortfolio};
     * - the account can receive it, or the escrow could pay itself.
     *
     * Emits {OrderRefunded}, {IConfidentialLedger-PortfolioUpdated} unless both blobs are empty, and {ClaimMade} if
     * the escrow becomes a claim.
     */
    function refund(OrderRefund calldata a, bytes calldata signature) external;

    /**
     * @notice Ends an order that the enclave never answered, and returns its escrow (none for a request), as a claim if
     *   the account cannot receive it. Works during a pause.
     *
     * Requirements:
     * - the order is open;
     * - the caller is its account, regardless of its flags;
     * - {IAuthority-RECLAIM_DELAY} has passed since the deadline;
     * - the account can receive it, or the escrow could pay itself.
     *
     * Emits {OrderRefunded}, and {ClaimMade} if the escrow becomes a claim.
     */
    function reclaim(bytes32 orderId) external;

    /**
     * @notice Pays the caller's whole claim in an asset. Works during a pause.
     *
     * Requirements:
     * - the caller has a claim in the asset;
     * - `to` is the caller, or a wallet with KYC that the owner approved for the caller and the asset;
     * - `to` can receive it.
     *
     * Emits {ClaimPaid}.
     */
    function claim(bytes32 asset, address to) external;

    /**
     * @notice Allows an account's claims in an asset to be paid to another wallet; only the account itself can request
     *   the payment. The approval holds until it is replaced; the zero address withdraws it.
     *
     * Requirements:
     * - the caller is the owner.
     *
     * Emits {ClaimRecipientApproved}.
     */
    function approveClaimRecipient(address account, bytes32 asset, address to) external;

    /// @notice The account of the order whose id has these first 16 bytes, zero if there is none.
    function takenBy(bytes16 idHead) external view returns (address);

    /// @notice The number of open orders.
    function openOrders() external view returns (uint256);

    /// @notice The USDC of all open orders, in base units.
    function escrowed() external view returns (uint256);

    /**
     * @notice Reverts with {OrderNotOpen}, {OrderNotRefunded} or {OrderMismatch} unless the order matches the arguments.
     *
     * Requirements:
     * - `state` is OPEN or REFUNDED, and is the order's state;
     * - the order has that account, amount and commit;
     * - `asset` is the symbol of a deposit of shares, `USDC` for another order with an amount, and zero for a request.
     */
    function requireOrder(bytes32 orderId, address account, bytes32 asset, uint256 amount, bytes32 commit, State state)
        external
        view;

    /// @notice An order by its id; `state` is NONE (0) if there is none. `amount` is the escrowed USDC in base
    /// units, 0 for a request and for a deposit of shares; `orgId` is the account's institution at opening, zero for none.
    /// `symbol` and `shares` are those of a deposit of shares, else zero.
    function orders(bytes32 orderId)
        external
        view
        returns (
            address account,
            uint256 amount,
            uint64 deadline,
            bytes32 commit,
            bytes32 orgId,
            State state,
            bytes32 symbol,
            uint256 shares
        );

    /// @notice The EIP-712 digest that the enclave signs for {settle}.
    function hashOrderSettlement(OrderSettlement calldata a) external view returns (bytes32);

    /// @notice The EIP-712 digest that the enclave signs for {refund}.
    function hashOrderRefund(OrderRefund calldata a) external view returns (bytes32);
}
