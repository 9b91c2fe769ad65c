// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

import {Authority} from "./Authority.sol";
import {ConfidentialLedger} from "./ConfidentialLedger.sol";
import {EnclaveAuthorized} from "./EnclaveAuthorized.sol";
import {EquityToken} from "./EquityToken.sol";
import {InstitutionRegistry} from "./InstitutionRegistry.sol";
import {PlatformPool} from "./PlatformPool.sol";
import {Sweepable} from "./Sweepable.sol";

/**
 * @title Orders: opened by wallets, ended by the enclave, or reclaimed when it never answers.
 *
 * @dev An order is bound to one sealed intent by `commit = keccak256(ciphertext)`. Only a buy out of the wallet
 * carries USDC; every other order (a sale, a withdrawal, a buy out of confidential cash) opens as a request
 * which shows neither its side nor its size.
 *
 * Money that its recipient cannot receive (USDC has blacklisted the account, its shares are frozen) becomes a claim, so
 * that it does not block the order. Claims stand outside the pool, and the treasury cannot touch them.
 */
contract OrderEscrow is EnclaveAuthorized, Sweepable {
    using SafeERC20 for IERC20;

    /// @notice An order's life: NONE → OPEN → SETTLED or REFUNDED, both final.
    enum State {
        NONE,
        OPEN,
        SETTLED,
        REFUNDED
    }

    /// @dev An order as it is stored; account, deadline and state share a slot.
    struct Order {
        address account;
        uint64 deadline;
        State state;
        uint256 amount;
        bytes32 commit;
        bytes32 orgId;
    }

    /**
     * @notice Authorization to settle an order.
     *
     * `account` to `commit` are the order as the enclave decided on it. `payoutAsset` is `USDC`, a symbol, or zero with
     * `payout` 0. `previous` is {ConfidentialLedger-portfolioHash} before the settlement.
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
        bytes enclaveBlob;
        bytes userBlob;
    }

    /// @notice Authorization to refund an order. With both blobs empty it writes no portfolio, and `version` and
    /// `previous` are the portfolio's at present.
    struct OrderRefund {
        bytes32 orderId;
        address account;
        bytes32 asset;
        uint256 amount;
        bytes32 commit;
        uint64 version;
        bytes32 previous;
        bytes enclaveBlob;
        bytes userBlob;
    }

    /// @dev What the escrow counts of its open orders, in one slot.
    struct Totals {
        uint64 openOrders;
        uint192 escrowed;
    }

    bytes32 private constant ORDER_SETTLEMENT_TYPEHASH = keccak256(
        "OrderSettlement(bytes32 orderId,address account,bytes32 asset,uint256 amount,bytes32 commit,bytes32 payoutAsset,uint256 payout,uint64 version,bytes32 previous,bytes enclaveBlob,bytes userBlob)"
    );
    bytes32 private constant ORDER_REFUND_TYPEHASH = keccak256(
        "OrderRefund(bytes32 orderId,address account,bytes32 asset,uint256 amount,bytes32 commit,uint64 version,bytes32 previous,bytes enclaveBlob,bytes userBlob)"
    );

    /// @dev How orders and claims name USDC.
    bytes32 private constant USDC_ASSET = "USDC";

    /// @notice How far ahead a deadline may lie.
    uint64 public constant MAX_LIFETIME = 30 days;

    /// @notice How many orders an account may have open.
    uint256 public constant MAX_OPEN_ORDERS = 20;

    /// @notice Unix seconds of the block that this contract was created in: no order of it is older.
    uint256 public immutable deployedAt = block.timestamp;

    /// @notice Who is in which institution.
    InstitutionRegistry public immutable registry;

    /// @notice Where portfolios are written.
    ConfidentialLedger public immutable ledger;

    /// @notice Where the KYC flags are.
    EquityToken public immutable token;

    mapping(bytes32 orderId => Order) private _orders;

    Totals private _totals;

    /// @notice How many orders are open that were opened in an institution (zero: in none).
    mapping(bytes32 orgId => uint256) public openOrdersOf;

    /// @notice How many orders of an account are open.
    mapping(address account => uint256) public openOrdersBy;

    /// @notice The account whose order has these first 16 bytes in its id, zero when there is none.
    mapping(bytes16 prefix => address) public takenBy;

    /// @notice What an account could not receive and can {claim}, in base units.
    mapping(address account => mapping(bytes32 asset => uint256)) public claims;

    /// @notice The sum of all {claims} in an asset.
    mapping(bytes32 asset => uint256) public claimed;

    /// @notice Where an account may have its claims in an asset paid to besides itself, zero for nowhere.
    mapping(address account => mapping(bytes32 asset => address)) public claimRecipientOf;

    /// @notice An order was opened.
    event OrderOpened(
        bytes32 indexed orderId, address indexed account, uint256 amount, uint64 deadline, bytes32 commit
    );

    /// @notice An order was settled: `amount` went to the pool, `payout` of `payoutAsset` to the account, or to a claim
    /// of it ({ClaimMade} follows then).
    event OrderSettled(bytes32 indexed orderId, uint256 amount, bytes32 payoutAsset, uint256 payout);

    /// @notice An order was refunded or reclaimed: `amount` went back to the account, or to a claim of it ({ClaimMade}
    /// follows then).
    event OrderRefunded(bytes32 indexed orderId, address indexed account, uint256 amount);

    /// @notice `account` could not receive `amount` of `asset`, which the escrow keeps for it.
    event ClaimMade(address indexed account, bytes32 indexed asset, uint256 amount);

    /// @notice A claim was paid to `to`.
    event ClaimPaid(address indexed account, bytes32 indexed asset, address indexed to, uint256 amount);

    /// @notice The owner allowed the account's claims in `asset` to be paid to `to` (zero: to the account alone).
    event ClaimRecipientApproved(address indexed account, bytes32 indexed asset, address indexed to);

    /// @notice The wallet has not passed KYC.
    error NotCleared(address wallet);

    /// @notice `by` has opened an order whose id has the same first 16 bytes: sign again under a new id.
    error OrderIdTaken(bytes32 orderId, address by);

    /// @notice The authorization was computed for another order: a reorganization has replaced it.
    error OrderMismatch(bytes32 orderId);

    /// @notice The account has nothing to claim in this asset.
    error NoClaim(address account, bytes32 asset);

    /// @notice The account's claims in `asset` cannot be paid to `to`.
    error NotClaimRecipient(address account, bytes32 asset, address to);

    /// @notice The deadline is not after the block's time `currentTime`, or is later than `latest`.
    error DeadlineOutOfRange(uint64 deadline, uint64 currentTime, uint64 latest);

    /// @notice The account has `open` orders open, and may have `limit`.
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

    /// @notice A buy must escrow something.
    error ZeroAmount();

    constructor(
        Authority authority_,
        IERC20 usdc_,
        address pool_,
        InstitutionRegistry registry_,
        ConfidentialLedger ledger_,
        EquityToken token_
    ) EnclaveAuthorized("OrderEscrow", authority_) Sweepable(usdc_, pool_) {
        registry = registry_;
        ledger = ledger_;
        token = token_;
    }

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
    function openBuy(bytes32 orderId, bytes32 commit, uint256 amount, uint64 deadline) external nonReentrant {
        require(amount > 0, ZeroAmount());
        _open(orderId, commit, amount, deadline, registry.buyerOrgOf(msg.sender));
        usdc.safeTransferFrom(msg.sender, address(this), amount);
    }

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
    function openRequest(bytes32 orderId, bytes32 commit, uint64 deadline) external nonReentrant {
        _open(orderId, commit, 0, deadline, registry.orgOf(msg.sender));
    }

    /**
     * @notice Ends an order: its USDC goes to the pool, the portfolio is written, the payout is paid. All or none. A
     * payout that only the account's own failure to receive it prevents becomes a claim. A settlement may come after
     * the deadline, as long as the order is open.
     *
     * Requirements:
     * - the platform is not paused;
     * - the enclave's signature over the authorization, not used before;
     * - the order is open, and the one that the authorization names;
     * - `payoutAsset` and `payout` are both zero or both not;
     * - what {ConfidentialLedger-writePortfolio} and {PlatformPool-payout} require.
     *
     * Emits {OrderSettled}, {ConfidentialLedger-PortfolioUpdated}, and {ClaimMade} when the payout becomes a claim.
     */
    function settle(OrderSettlement calldata a, bytes calldata signature) external nonReentrant {
        _authorize(hashOrderSettlement(a), signature);
        require((a.payoutAsset == bytes32(0)) == (a.payout == 0), InvalidPayout(a.payoutAsset, a.payout));
        requireOrder(a.orderId, a.account, a.asset, a.amount, a.commit, State.OPEN);
        _close(a.orderId, State.SETTLED);
        emit OrderSettled(a.orderId, a.amount, a.payoutAsset, a.payout);
        ledger.writePortfolio(_accountId(a.account), a.version, a.previous, a.enclaveBlob, a.userBlob);
        if (a.amount > 0) usdc.safeTransfer(pool, a.amount);
        if (a.payout > 0 && !PlatformPool(pool).payout(a.account, a.payoutAsset, a.payout)) {
            _addClaim(a.account, a.payoutAsset, a.payout);
        }
    }

    /**
     * @notice Ends an order and gives its USDC back, as a claim if the account cannot receive it.
     *
     * Requirements:
     * - the platform is not paused;
     * - the enclave's signature over the authorization, not used before;
     * - the order is open, and the one that the authorization names;
     * - with both blobs empty: `version` and `previous` are the portfolio's at present, so the refund is void once
     *   the order has been written ahead; otherwise what {ConfidentialLedger-writePortfolio} requires;
     * - the account can receive the USDC, or the escrow could pay itself.
     *
     * Emits {OrderRefunded}, {ConfidentialLedger-PortfolioUpdated} unless both blobs are empty, and {ClaimMade} when
     * the USDC becomes a claim.
     */
    function refund(OrderRefund calldata a, bytes calldata signature) external nonReentrant {
        _authorize(hashOrderRefund(a), signature);
        requireOrder(a.orderId, a.account, a.asset, a.amount, a.commit, State.OPEN);
        _close(a.orderId, State.REFUNDED);
        emit OrderRefunded(a.orderId, a.account, a.amount);
        bytes32 accountId = _accountId(a.account);
        if (a.enclaveBlob.length == 0 && a.userBlob.length == 0) {
            ledger.requirePortfolio(accountId, a.version, a.previous);
        } else {
            ledger.writePortfolio(accountId, a.version, a.previous, a.enclaveBlob, a.userBlob);
        }
        _returnUsdc(a.account, a.amount);
    }

    /**
     * @notice Ends an order that the enclave never answered; its USDC goes back (a request pays nothing), as a claim if
     * the account cannot receive it. A pause does not stop it.
     *
     * Requirements:
     * - the order is open;
     * - the caller is its account, whatever its flags say;
     * - {Authority-RECLAIM_DELAY} has passed since the deadline;
     * - the account can receive the USDC, or the escrow could pay itself.
     *
     * Emits {OrderRefunded}, and {ClaimMade} when the USDC becomes a claim.
     */
    function reclaim(bytes32 orderId) external nonReentrant {
        Order storage order = _orders[orderId];
        require(order.state == State.OPEN, OrderNotOpen(orderId, order.state));
        require(msg.sender == order.account, NotOrderAccount(order.account, msg.sender));
        uint256 availableAt = uint256(order.deadline) + authority.RECLAIM_DELAY();
        require(block.timestamp >= availableAt, ReclaimTooEarly(availableAt, block.timestamp));
        _close(orderId, State.REFUNDED);
        emit OrderRefunded(orderId, msg.sender, order.amount);
        _returnUsdc(msg.sender, order.amount);
    }

    /**
     * @notice Pays all that the caller could not receive of an asset. A pause does not stop it.
     *
     * Requirements:
     * - the caller has a claim in the asset;
     * - `to` is the caller, or a wallet with KYC that the owner approved for the caller and the asset;
     * - `to` can receive it.
     *
     * Emits {ClaimPaid}.
     */
    function claim(bytes32 asset, address to) external nonReentrant {
        uint256 amount = claims[msg.sender][asset];
        require(amount > 0, NoClaim(msg.sender, asset));
        require(
            to == msg.sender || (to == claimRecipientOf[msg.sender][asset] && token.isKyc(to)),
            NotClaimRecipient(msg.sender, asset, to)
        );
        claims[msg.sender][asset] = 0;
        claimed[asset] -= amount;
        emit ClaimPaid(msg.sender, asset, to, amount);
        if (asset == USDC_ASSET) usdc.safeTransfer(to, amount);
        else token.transfer(to, uint256(asset), amount);
    }

    /**
     * @notice Lets an account have its claims in an asset paid to another wallet. Only the account can then have them
     * paid. The approval stands until it is replaced; the zero address withdraws it.
     *
     * Requirements:
     * - the caller is the owner.
     *
     * Emits {ClaimRecipientApproved}.
     */
    function approveClaimRecipient(address account, bytes32 asset, address to) external onlyOwner {
        claimRecipientOf[account][asset] = to;
        emit ClaimRecipientApproved(account, asset, to);
    }

    /// @notice How many orders are open.
    function openOrders() external view returns (uint256) {
        return _totals.openOrders;
    }

    /// @notice The USDC of all open orders, in base units.
    function escrowed() external view returns (uint256) {
        return _totals.escrowed;
    }

    /**
     * @notice Reverts with {OrderNotOpen}, {OrderNotRefunded} or {OrderMismatch} unless the order is the one described.
     *
     * Requirements:
     * - `state` is OPEN or REFUNDED, and the order is in it;
     * - the order has that account, amount and commit;
     * - `asset` is `USDC` for an order with an amount, and zero for a request.
     */
    function requireOrder(
        bytes32 orderId,
        address account,
        bytes32 asset,
        uint256 amount,
        bytes32 commit,
        State state
    ) public view {
        Order storage order = _orders[orderId];
        if (state == State.OPEN) require(order.state == state, OrderNotOpen(orderId, order.state));
        else require(order.state == State.REFUNDED && state == order.state, OrderNotRefunded(orderId, order.state));
        require(
            order.account == account && order.amount == amount && order.commit == commit
                && asset == (amount == 0 ? bytes32(0) : USDC_ASSET),
            OrderMismatch(orderId)
        );
    }

    /// @notice An order by its id; `state` is NONE (0) when there is none. `amount` is the escrowed USDC in base
    /// units, 0 for a request; `orgId` is the account's institution at opening, zero for none.
    function orders(bytes32 orderId)
        external
        view
        returns (address account, uint256 amount, uint64 deadline, bytes32 commit, bytes32 orgId, State state)
    {
        Order storage order = _orders[orderId];
        return (order.account, order.amount, order.deadline, order.commit, order.orgId, order.state);
    }

    /// @notice The EIP-712 digest that the enclave signs for {settle}.
    function hashOrderSettlement(OrderSettlement calldata a) public view returns (bytes32) {
        // In two halves: the compiler cannot keep more values on the stack.
        bytes memory order =
            abi.encode(ORDER_SETTLEMENT_TYPEHASH, a.orderId, a.account, a.asset, a.amount, a.commit);
        bytes memory effect = abi.encode(
            a.payoutAsset, a.payout, a.version, a.previous, keccak256(a.enclaveBlob), keccak256(a.userBlob)
        );
        return _hashTypedDataV4(keccak256(bytes.concat(order, effect)));
    }

    /// @notice The EIP-712 digest that the enclave signs for {refund}.
    function hashOrderRefund(OrderRefund calldata a) public view returns (bytes32) {
        bytes memory order = abi.encode(ORDER_REFUND_TYPEHASH, a.orderId, a.account, a.asset, a.amount, a.commit);
        bytes memory write = abi.encode(a.version, a.previous, keccak256(a.enclaveBlob), keccak256(a.userBlob));
        return _hashTypedDataV4(keccak256(bytes.concat(order, write)));
    }

    function _open(bytes32 orderId, bytes32 commit, uint256 amount, uint64 deadline, bytes32 orgId) private {
        authority.requireNotPaused();
        require(token.isKyc(msg.sender), NotCleared(msg.sender));
        uint64 now_ = uint64(block.timestamp);
        require(
            now_ < deadline && deadline <= now_ + MAX_LIFETIME,
            DeadlineOutOfRange(deadline, now_, now_ + MAX_LIFETIME)
        );
        uint256 open = openOrdersBy[msg.sender];
        require(open < MAX_OPEN_ORDERS, TooManyOpenOrders(msg.sender, open, MAX_OPEN_ORDERS));
        address holder = takenBy[bytes16(orderId)];
        require(holder == address(0), OrderIdTaken(orderId, holder));

        takenBy[bytes16(orderId)] = msg.sender;
        _orders[orderId] = Order(msg.sender, deadline, State.OPEN, amount, commit, orgId);
        _totals = Totals(_totals.openOrders + 1, SafeCast.toUint192(_totals.escrowed + amount));
        openOrdersOf[orgId]++;
        openOrdersBy[msg.sender] = open + 1;
        emit OrderOpened(orderId, msg.sender, amount, deadline, commit);
    }

    /// @dev Closes an order that is open.
    function _close(bytes32 orderId, State state) private {
        Order storage order = _orders[orderId];
        order.state = state;
        _totals = Totals(_totals.openOrders - 1, SafeCast.toUint192(_totals.escrowed - order.amount));
        openOrdersOf[order.orgId]--;
        openOrdersBy[order.account]--;
    }

    /// @dev Pays USDC of the escrow back. It becomes a claim only if the failure is the account's own: when the escrow
    /// could not pay itself either (USDC is paused, or too little gas is left), everything reverts.
    function _returnUsdc(address account, uint256 amount) private {
        if (amount == 0 || usdc.trySafeTransfer(account, amount)) return;
        usdc.safeTransfer(address(this), amount);
        _addClaim(account, USDC_ASSET, amount);
    }

    function _addClaim(address account, bytes32 asset, uint256 amount) private {
        claims[account][asset] += amount;
        claimed[asset] += amount;
        emit ClaimMade(account, asset, amount);
    }

    /// @dev Open orders and claims. The rest was sent here by mistake.
    function _accountedUsdc() internal view override returns (uint256) {
        return uint256(_totals.escrowed) + claimed[USDC_ASSET];
    }

    function _accountId(address account) private pure returns (bytes32) {
        return keccak256(abi.encodePacked(account));
    }
}
