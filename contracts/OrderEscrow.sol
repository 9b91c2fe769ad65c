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
import {SignedOpenings} from "./SignedOpenings.sol";
import {Sweepable} from "./Sweepable.sol";

/**
 * @title Orders: wallets open them or sign that they be opened, the enclave ends them, and wallets reclaim unanswered ones.
 *
 * @dev `commit = keccak256(ciphertext)` binds an order to one sealed intent. A buy out of the wallet and a deposit of cash
 * carry USDC, a deposit of shares carries shares. Every other order (a sale, a withdrawal, a buy out of confidential cash)
 * opens as a request that shows neither its side nor its size.
 *
 * Money that its recipient cannot receive (USDC has blacklisted the account, its shares are frozen) becomes a claim, so
 * that it does not block the order. Claims are held outside the pool, and the treasury cannot move them.
 */
contract OrderEscrow is EnclaveAuthorized, SignedOpenings, Sweepable {
    using SafeERC20 for IERC20;

    /// @notice An order's states: NONE → OPEN → SETTLED or REFUNDED, both final.
    enum State {
        NONE,
        OPEN,
        SETTLED,
        REFUNDED
    }

    /// @dev A stored order, found by the first 16 bytes of its id; `idTail` has the others. Account, deadline and state share a slot, as
    /// do amount and tail. `amount` is in USDC, or in shares of `symbol` if that is not zero.
    struct Order {
        address account;
        uint64 deadline;
        State state;
        uint128 amount;
        bytes16 idTail;
        bytes32 commit;
        bytes32 orgId;
        bytes32 symbol;
    }

    /**
     * @notice Authorization to settle an order.
     *
     * `account` to `commit` describe the order that the enclave decided on. `payoutAsset` is `USDC`, a symbol, or
     * zero with `payout` 0. `previous` is {ConfidentialLedger-portfolioHash} before the settlement.
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
    /// `previous` are the portfolio's current ones.
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

    /// @dev Totals of the open orders, in one slot.
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

    /// @dev The name of USDC in orders and claims.
    bytes32 private constant USDC_ASSET = "USDC";

    /// @notice The most seconds that a deadline may lie ahead.
    uint64 public constant MAX_LIFETIME = 30 days;

    /// @notice The most orders that an account may have open.
    uint256 public constant MAX_OPEN_ORDERS = 20;

    /// @notice Unix seconds of this contract's deployment block; no order is older.
    uint256 public immutable deployedAt = block.timestamp;

    /// @notice The registry of institutions and their members.
    InstitutionRegistry public immutable registry;

    /// @notice The ledger of the portfolios.
    ConfidentialLedger public immutable ledger;

    /// @notice The token contract, which holds the KYC flags.
    EquityToken public immutable token;

    mapping(bytes16 idHead => Order) private _orders;

    Totals private _totals;

    /// @notice The number of open orders that were opened in an institution (zero: in none).
    mapping(bytes32 orgId => uint256) public openOrdersOf;

    /// @notice The number of an account's open orders.
    mapping(address account => uint256) public openOrdersBy;

    /// @notice The amount that an account could not receive and can {claim}, in base units.
    mapping(address account => mapping(bytes32 asset => uint256)) public claims;

    /// @notice The sum of all {claims} in an asset.
    mapping(bytes32 asset => uint256) public claimed;

    /// @notice The other address that may receive an account's claims in an asset, zero for none.
    mapping(address account => mapping(bytes32 asset => address)) public claimRecipientOf;

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

    /// @notice The wallet has not passed KYC.
    error NotCleared(address wallet);

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

    /// @notice A buy or a deposit must escrow an amount above zero.
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
        _open(msg.sender, orderId, commit, 0, amount, deadline, registry.buyerOrgOf(msg.sender));
        usdc.safeTransferFrom(msg.sender, address(this), amount);
    }

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
    function openBuyFor(BuyOpening calldata o, bytes calldata signature) external nonReentrant {
        _requireCurrent(o.validBefore);
        require(o.amount > 0, ZeroAmount());
        _open(o.account, o.orderId, o.commit, 0, o.amount, o.deadline, registry.buyerOrgOf(o.account));
        _receiveSigned(usdc, o, signature);
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
        _open(msg.sender, orderId, commit, 0, 0, deadline, registry.orgOf(msg.sender));
    }

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
    function openDeposit(bytes32 orderId, bytes32 commit, bytes32 symbol, uint256 amount, uint64 deadline)
        external
        nonReentrant
    {
        require(amount > 0, ZeroAmount());
        _open(msg.sender, orderId, commit, symbol, amount, deadline, registry.orgOf(msg.sender));
        // Not {_tokenOf}: USDC is no equity, and the escrow would not count it.
        IERC20(token.sharesOf(symbol)).safeTransferFrom(msg.sender, address(this), amount);
    }

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
    function openRequestFor(RequestOpening calldata o, bytes calldata signature) external nonReentrant {
        _requireCurrent(o.validBefore);
        _requireSigned(o, signature);
        _open(o.account, o.orderId, o.commit, 0, 0, o.deadline, registry.orgOf(o.account));
    }

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
     * - the requirements of {ConfidentialLedger-writePortfolio} and {PlatformPool-payout}.
     *
     * Emits {OrderSettled}, {ConfidentialLedger-PortfolioUpdated}, and {ClaimMade} if the payout becomes a claim.
     */
    function settle(OrderSettlement calldata a, bytes calldata signature) external nonReentrant {
        _authorize(hashOrderSettlement(a), signature);
        require((a.payoutAsset == bytes32(0)) == (a.payout == 0), InvalidPayout(a.payoutAsset, a.payout));
        requireOrder(a.orderId, a.account, a.asset, a.amount, a.commit, State.OPEN);
        _close(a.orderId, State.SETTLED);
        emit OrderSettled(a.orderId, a.account, _usdcOf(a.asset, a.amount), a.payoutAsset, a.payout);
        ledger.writePortfolio(_accountId(a.account), a.version, a.previous, a.enclaveBlob, a.userBlob);
        if (a.amount > 0) _tokenOf(a.asset).safeTransfer(pool, a.amount);
        if (a.payout > 0 && !PlatformPool(pool).payout(a.account, a.payoutAsset, a.payout)) {
            _addClaim(a.account, a.payoutAsset, a.payout);
        }
    }

    /**
     * @notice Ends an order and returns its escrow, as a claim if the account cannot receive it.
     *
     * Requirements:
     * - the platform is not paused;
     * - the enclave signed the authorization, and it was not used before;
     * - the order is open, and is the one that the authorization names;
     * - with both blobs empty: `version` and `previous` are the portfolio's current ones, so the refund is void once
     *   the order has been written ahead; otherwise the requirements of {ConfidentialLedger-writePortfolio};
     * - the account can receive it, or the escrow could pay itself.
     *
     * Emits {OrderRefunded}, {ConfidentialLedger-PortfolioUpdated} unless both blobs are empty, and {ClaimMade} if
     * the escrow becomes a claim.
     */
    function refund(OrderRefund calldata a, bytes calldata signature) external nonReentrant {
        _authorize(hashOrderRefund(a), signature);
        requireOrder(a.orderId, a.account, a.asset, a.amount, a.commit, State.OPEN);
        _close(a.orderId, State.REFUNDED);
        emit OrderRefunded(a.orderId, a.account, _usdcOf(a.asset, a.amount));
        bytes32 accountId = _accountId(a.account);
        if (a.enclaveBlob.length == 0 && a.userBlob.length == 0) {
            ledger.requirePortfolio(accountId, a.version, a.previous);
        } else {
            ledger.writePortfolio(accountId, a.version, a.previous, a.enclaveBlob, a.userBlob);
        }
        _returnEscrow(a.account, a.asset, a.amount);
    }

    /**
     * @notice Ends an order that the enclave never answered, and returns its escrow (none for a request), as a claim if
     *   the account cannot receive it. Works during a pause.
     *
     * Requirements:
     * - the order is open;
     * - the caller is its account, regardless of its flags;
     * - {Authority-RECLAIM_DELAY} has passed since the deadline;
     * - the account can receive it, or the escrow could pay itself.
     *
     * Emits {OrderRefunded}, and {ClaimMade} if the escrow becomes a claim.
     */
    function reclaim(bytes32 orderId) external nonReentrant {
        Order storage order = _orders[bytes16(orderId)];
        State state = _stateOf(orderId, order);
        require(state == State.OPEN, OrderNotOpen(orderId, state));
        require(msg.sender == order.account, NotOrderAccount(order.account, msg.sender));
        uint256 availableAt = uint256(order.deadline) + authority.RECLAIM_DELAY();
        require(block.timestamp >= availableAt, ReclaimTooEarly(availableAt, block.timestamp));
        _close(orderId, State.REFUNDED);
        bytes32 asset = _assetOf(order);
        emit OrderRefunded(orderId, msg.sender, _usdcOf(asset, order.amount));
        _returnEscrow(msg.sender, asset, order.amount);
    }

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
        _tokenOf(asset).safeTransfer(to, amount);
    }

    /**
     * @notice Allows an account's claims in an asset to be paid to another wallet; only the account itself can request
     *   the payment. The approval holds until it is replaced; the zero address withdraws it.
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

    /// @notice The account of the order whose id has these first 16 bytes, zero if there is none.
    function takenBy(bytes16 idHead) external view returns (address) {
        return _orders[idHead].account;
    }

    /// @notice The number of open orders.
    function openOrders() external view returns (uint256) {
        return _totals.openOrders;
    }

    /// @notice The USDC of all open orders, in base units.
    function escrowed() external view returns (uint256) {
        return _totals.escrowed;
    }

    /**
     * @notice Reverts with {OrderNotOpen}, {OrderNotRefunded} or {OrderMismatch} unless the order matches the arguments.
     *
     * Requirements:
     * - `state` is OPEN or REFUNDED, and is the order's state;
     * - the order has that account, amount and commit;
     * - `asset` is the symbol of a deposit of shares, `USDC` for another order with an amount, and zero for a request.
     */
    function requireOrder(
        bytes32 orderId,
        address account,
        bytes32 asset,
        uint256 amount,
        bytes32 commit,
        State state
    ) public view {
        Order storage order = _orders[bytes16(orderId)];
        State current = _stateOf(orderId, order);
        if (state == State.OPEN) require(current == state, OrderNotOpen(orderId, current));
        else require(current == State.REFUNDED && state == current, OrderNotRefunded(orderId, current));
        require(
            order.account == account && order.amount == amount && order.commit == commit
                && asset == _assetOf(order),
            OrderMismatch(orderId)
        );
    }

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
        )
    {
        Order storage order = _orders[bytes16(orderId)];
        if (_stateOf(orderId, order) == State.NONE) return (address(0), 0, 0, 0, 0, State.NONE, 0, 0);
        (account, deadline, commit, orgId) = (order.account, order.deadline, order.commit, order.orgId);
        (state, symbol) = (order.state, order.symbol);
        if (symbol == 0) amount = order.amount;
        else shares = order.amount;
    }

    /// @notice The EIP-712 digest that the enclave signs for {settle}.
    function hashOrderSettlement(OrderSettlement calldata a) public view returns (bytes32) {
        // Encodes in two halves to stay within the EVM's stack limit.
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

    function _open(
        address account,
        bytes32 orderId,
        bytes32 commit,
        bytes32 symbol,
        uint256 amount,
        uint64 deadline,
        bytes32 orgId
    ) private {
        authority.requireNotPaused();
        require(token.isKyc(account), NotCleared(account));
        uint64 now_ = uint64(block.timestamp);
        require(
            now_ < deadline && deadline <= now_ + MAX_LIFETIME,
            DeadlineOutOfRange(deadline, now_, now_ + MAX_LIFETIME)
        );
        uint256 open = openOrdersBy[account];
        require(open < MAX_OPEN_ORDERS, TooManyOpenOrders(account, open, MAX_OPEN_ORDERS));
        address holder = _orders[bytes16(orderId)].account;
        require(holder == address(0), OrderIdTaken(orderId, holder));

        _orders[bytes16(orderId)] = Order(
            account, deadline, State.OPEN, SafeCast.toUint128(amount), _tailOf(orderId), commit, orgId, symbol
        );
        uint256 inUsdc = symbol == 0 ? amount : 0;
        _totals = Totals(_totals.openOrders + 1, SafeCast.toUint192(_totals.escrowed + inUsdc));
        openOrdersOf[orgId]++;
        openOrdersBy[account] = open + 1;
        emit OrderOpened(orderId, account, inUsdc, deadline, commit);
    }

    /// @dev The state of `order`, which has the first half of the id; NONE if it has another second half.
    function _stateOf(bytes32 orderId, Order storage order) private view returns (State) {
        return order.idTail == _tailOf(orderId) ? order.state : State.NONE;
    }

    function _tailOf(bytes32 orderId) private pure returns (bytes16) {
        return bytes16(orderId << 128);
    }

    /// @dev Closes an open order.
    function _close(bytes32 orderId, State state) private {
        Order storage order = _orders[bytes16(orderId)];
        order.state = state;
        uint256 inUsdc = order.symbol == 0 ? order.amount : 0;
        _totals = Totals(_totals.openOrders - 1, SafeCast.toUint192(_totals.escrowed - inUsdc));
        openOrdersOf[order.orgId]--;
        openOrdersBy[order.account]--;
    }

    /// @dev Returns USDC or shares of the escrow. They become a claim only if the account itself cannot receive them: if the
    /// escrow could not pay itself either (USDC is paused, or too little gas is left), everything reverts.
    function _returnEscrow(address account, bytes32 asset, uint256 amount) private {
        if (amount == 0) return;
        IERC20 returned = _tokenOf(asset);
        if (returned.trySafeTransfer(account, amount)) return;
        returned.safeTransfer(address(this), amount);
        _addClaim(account, asset, amount);
    }

    /// @dev The asset that an order has in escrow, zero for a request.
    function _assetOf(Order storage order) private view returns (bytes32) {
        if (order.amount == 0) return 0;
        return order.symbol == 0 ? USDC_ASSET : order.symbol;
    }

    function _tokenOf(bytes32 asset) private view returns (IERC20) {
        return asset == USDC_ASSET ? usdc : token.sharesOf(asset);
    }

    /// @dev The amount as events show it.
    function _usdcOf(bytes32 asset, uint256 amount) private pure returns (uint256) {
        return asset == USDC_ASSET ? amount : 0;
    }

    function _addClaim(address account, bytes32 asset, uint256 amount) private {
        claims[account][asset] += amount;
        claimed[asset] += amount;
        emit ClaimMade(account, asset, amount);
    }

    /// @dev USDC of open orders and claims. Any excess was sent here by mistake.
    function _accountedUsdc() internal view override returns (uint256) {
        return uint256(_totals.escrowed) + claimed[USDC_ASSET];
    }

    function _accountId(address account) private pure returns (bytes32) {
        return keccak256(abi.encodePacked(account));
    }
}
