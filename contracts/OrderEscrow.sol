// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

import {ConfidentialLedger} from "./ConfidentialLedger.sol";
import {EnclaveAuthorized} from "./EnclaveAuthorized.sol";
import {EquityToken} from "./EquityToken.sol";
import {InstitutionRegistry} from "./InstitutionRegistry.sol";
import {PlatformPool} from "./PlatformPool.sol";

/**
 * @title Orders: opened by wallets, ended by the enclave, or reclaimed when it never answers.
 *
 * @dev An order is bound to one sealed intent by `commit = keccak256(ciphertext)`. Only a buy out of the wallet
 * carries USDC; every other order (a sale, a withdrawal, a buy out of confidential cash) opens as a request
 * which shows neither its side nor its size.
 */
contract OrderEscrow is EnclaveAuthorized, ReentrancyGuardTransient {
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

    /// @notice Authorization to settle an order. `payoutAsset` is `USDC`, a symbol, or zero with `payout` 0.
    struct OrderSettlement {
        bytes32 orderId;
        bytes32 payoutAsset;
        uint256 payout;
        uint64 version;
        bytes enclaveBlob;
        bytes userBlob;
    }

    /// @notice Authorization to refund an order. With both blobs empty it writes no portfolio.
    struct OrderRefund {
        bytes32 orderId;
        uint64 version;
        bytes enclaveBlob;
        bytes userBlob;
    }

    bytes32 private constant ORDER_SETTLEMENT_TYPEHASH = keccak256(
        "OrderSettlement(bytes32 orderId,bytes32 payoutAsset,uint256 payout,uint64 version,bytes enclaveBlob,bytes userBlob)"
    );
    bytes32 private constant ORDER_REFUND_TYPEHASH =
        keccak256("OrderRefund(bytes32 orderId,uint64 version,bytes enclaveBlob,bytes userBlob)");

    /// @notice How far ahead a deadline may lie.
    uint64 public constant MAX_LIFETIME = 30 days;

    /// @notice How long after its deadline an account may reclaim its order.
    uint64 public constant RECLAIM_DELAY = 7 days;

    /// @notice How many orders an account may have open.
    uint256 public constant MAX_OPEN_ORDERS = 20;

    /// @notice The USDC token.
    IERC20 public immutable usdc;

    /// @notice Who is in which institution.
    InstitutionRegistry public immutable registry;

    /// @notice Where portfolios are written.
    ConfidentialLedger public immutable ledger;

    /// @notice Where the KYC flags are.
    EquityToken public immutable token;

    /// @notice Where escrowed USDC goes at settlement, and payouts come from.
    PlatformPool public immutable pool;

    mapping(bytes32 orderId => Order) private _orders;

    /// @notice How many orders are open.
    uint256 public openOrders;

    /// @notice How many orders are open that were opened in an institution (zero: in none).
    mapping(bytes32 orgId => uint256) public openOrdersOf;

    /// @notice How many orders of an account are open.
    mapping(address account => uint256) public openOrdersBy;

    /// @notice Whether the first 16 bytes of an orderId are taken.
    mapping(bytes16 prefix => bool) public isTaken;

    /// @notice An order was opened.
    event OrderOpened(
        bytes32 indexed orderId, address indexed account, uint256 amount, uint64 deadline, bytes32 commit
    );

    /// @notice An order was settled: `amount` went to the pool, `payout` of `payoutAsset` to the account.
    event OrderSettled(bytes32 indexed orderId, uint256 amount, bytes32 payoutAsset, uint256 payout);

    /// @notice An order was refunded or reclaimed: `amount` went back to the account.
    event OrderRefunded(bytes32 indexed orderId, address indexed account, uint256 amount);

    /// @notice The wallet has not passed KYC or, for a buy, is in no institution.
    error NotCleared(address wallet);

    /// @notice An order whose id has the same first 16 bytes exists: sign again under a new id.
    error OrderIdTaken(bytes32 orderId);

    /// @notice The deadline is not after the block's time `currentTime`, or is later than `latest`.
    error DeadlineOutOfRange(uint64 deadline, uint64 currentTime, uint64 latest);

    /// @notice The account has `open` orders open, and may have `limit`.
    error TooManyOpenOrders(address account, uint256 open, uint256 limit);

    /// @notice The order is in `state`, not OPEN.
    error OrderNotOpen(bytes32 orderId, State state);

    /// @notice An asset without an amount, or an amount without an asset.
    error InvalidPayout(bytes32 asset, uint256 amount);

    /// @notice `caller` is not the order's account.
    error NotOrderAccount(address expected, address caller);

    /// @notice The order can be reclaimed from `availableAt` on; the block's time is `currentTime`.
    error ReclaimTooEarly(uint256 availableAt, uint256 currentTime);

    /// @notice A buy must escrow something.
    error ZeroAmount();

    constructor(
        address owner_,
        address enclaveSigner_,
        IERC20 usdc_,
        InstitutionRegistry registry_,
        ConfidentialLedger ledger_,
        EquityToken token_,
        PlatformPool pool_
    ) EnclaveAuthorized("OrderEscrow", owner_, enclaveSigner_) {
        usdc = usdc_;
        registry = registry_;
        ledger = ledger_;
        token = token_;
        pool = pool_;
    }

    /**
     * @notice Opens a buy and takes its USDC into escrow.
     *
     * Requirements:
     * - the caller has passed KYC and is an active member, or the admin, of an institution;
     * - `amount` is not zero, and approved to this contract by the caller;
     * - now < `deadline` ≤ now + 30 days;
     * - the caller has fewer than 20 orders open;
     * - no order's id has the same first 16 bytes.
     *
     * Emits {OrderOpened}.
     */
    function openBuy(bytes32 orderId, bytes32 commit, uint256 amount, uint64 deadline) external nonReentrant {
        bytes32 orgId = registry.orgOf(msg.sender);
        require(orgId != bytes32(0), NotCleared(msg.sender));
        require(amount > 0, ZeroAmount());
        _open(orderId, commit, amount, deadline, orgId);
        usdc.safeTransferFrom(msg.sender, address(this), amount);
    }

    /**
     * @notice Opens a sale, a withdrawal, or a buy out of confidential cash, without showing which.
     *
     * Requirements:
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
     * @notice Ends an order: its USDC goes to the pool, the portfolio is written, the payout is paid. All or none.
     * It may come after the deadline, as long as the order is open.
     *
     * Requirements:
     * - the enclave's signature over the authorization, not used before;
     * - the order is open;
     * - `payoutAsset` and `payout` are both zero or both not;
     * - what {ConfidentialLedger-writePortfolio} and {PlatformPool-payout} require.
     *
     * Emits {OrderSettled}.
     */
    function settle(OrderSettlement calldata authorization, bytes calldata signature) external nonReentrant {
        _authorize(hashOrderSettlement(authorization), signature);
        bytes32 asset = authorization.payoutAsset;
        uint256 payout = authorization.payout;
        require((asset == bytes32(0)) == (payout == 0), InvalidPayout(asset, payout));
        (address account, uint256 amount) = _close(authorization.orderId, State.SETTLED);
        emit OrderSettled(authorization.orderId, amount, asset, payout);
        ledger.writePortfolio(
            _accountId(account), authorization.version, authorization.enclaveBlob, authorization.userBlob
        );
        if (amount > 0) usdc.safeTransfer(address(pool), amount);
        if (payout > 0) pool.payout(account, asset, payout);
    }

    /**
     * @notice Ends an order and gives its USDC back.
     *
     * Requirements:
     * - the enclave's signature over the authorization, not used before;
     * - the order is open;
     * - both blobs empty: `version` is the portfolio's current version, so the refund is void once the order
     *   has been written ahead; otherwise what {ConfidentialLedger-writePortfolio} requires.
     *
     * Emits {OrderRefunded}.
     */
    function refund(OrderRefund calldata authorization, bytes calldata signature) external nonReentrant {
        _authorize(hashOrderRefund(authorization), signature);
        (address account, uint256 amount) = _close(authorization.orderId, State.REFUNDED);
        emit OrderRefunded(authorization.orderId, account, amount);
        bytes32 accountId = _accountId(account);
        if (authorization.enclaveBlob.length == 0 && authorization.userBlob.length == 0) {
            ledger.requirePortfolioVersion(accountId, authorization.version);
        } else {
            ledger.writePortfolio(
                accountId, authorization.version, authorization.enclaveBlob, authorization.userBlob
            );
        }
        if (amount > 0) usdc.safeTransfer(account, amount);
    }

    /**
     * @notice Ends an order that the enclave never answered; its USDC goes back (a request pays nothing).
     *
     * Requirements:
     * - the order is open;
     * - the caller is its account, whatever its flags say;
     * - seven days have passed since the deadline.
     *
     * Emits {OrderRefunded}.
     */
    function reclaim(bytes32 orderId) external nonReentrant {
        Order storage order = _orders[orderId];
        require(order.state == State.OPEN, OrderNotOpen(orderId, order.state));
        require(msg.sender == order.account, NotOrderAccount(order.account, msg.sender));
        uint256 availableAt = uint256(order.deadline) + RECLAIM_DELAY;
        require(block.timestamp >= availableAt, ReclaimTooEarly(availableAt, block.timestamp));
        (address account, uint256 amount) = _close(orderId, State.REFUNDED);
        emit OrderRefunded(orderId, account, amount);
        if (amount > 0) usdc.safeTransfer(account, amount);
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
        return _hashTypedDataV4(
            keccak256(
                abi.encode(
                    ORDER_SETTLEMENT_TYPEHASH,
                    a.orderId,
                    a.payoutAsset,
                    a.payout,
                    a.version,
                    keccak256(a.enclaveBlob),
                    keccak256(a.userBlob)
                )
            )
        );
    }

    /// @notice The EIP-712 digest that the enclave signs for {refund}.
    function hashOrderRefund(OrderRefund calldata a) public view returns (bytes32) {
        return _hashTypedDataV4(
            keccak256(
                abi.encode(
                    ORDER_REFUND_TYPEHASH, a.orderId, a.version, keccak256(a.enclaveBlob), keccak256(a.userBlob)
                )
            )
        );
    }

    function _open(bytes32 orderId, bytes32 commit, uint256 amount, uint64 deadline, bytes32 orgId) private {
        require(token.isKyc(msg.sender), NotCleared(msg.sender));
        uint64 now_ = uint64(block.timestamp);
        require(
            now_ < deadline && deadline <= now_ + MAX_LIFETIME,
            DeadlineOutOfRange(deadline, now_, now_ + MAX_LIFETIME)
        );
        uint256 open = openOrdersBy[msg.sender];
        require(open < MAX_OPEN_ORDERS, TooManyOpenOrders(msg.sender, open, MAX_OPEN_ORDERS));
        require(!isTaken[bytes16(orderId)], OrderIdTaken(orderId));

        isTaken[bytes16(orderId)] = true;
        _orders[orderId] = Order(msg.sender, deadline, State.OPEN, amount, commit, orgId);
        openOrders++;
        openOrdersOf[orgId]++;
        openOrdersBy[msg.sender] = open + 1;
        emit OrderOpened(orderId, msg.sender, amount, deadline, commit);
    }

    function _close(bytes32 orderId, State state) private returns (address account, uint256 amount) {
        Order storage order = _orders[orderId];
        require(order.state == State.OPEN, OrderNotOpen(orderId, order.state));
        (account, amount) = (order.account, order.amount);
        order.state = state;
        openOrders--;
        openOrdersOf[order.orgId]--;
        openOrdersBy[account]--;
    }

    function _accountId(address account) private pure returns (bytes32) {
        return keccak256(abi.encodePacked(account));
    }
}
