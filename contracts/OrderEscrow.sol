// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

import {Assets} from "./Assets.sol";
import {EnclaveAuthorized} from "./EnclaveAuthorized.sol";
import {Errors} from "./Errors.sol";
import {OpenOrders} from "./OpenOrders.sol";
import {SignedOpenings} from "./SignedOpenings.sol";
import {Sweepable} from "./Sweepable.sol";
import {IAuthority} from "./interfaces/IAuthority.sol";
import {IConfidentialLedger} from "./interfaces/IConfidentialLedger.sol";
import {IEquityToken} from "./interfaces/IEquityToken.sol";
import {IInstitutionRegistry} from "./interfaces/IInstitutionRegistry.sol";
import {IOrderEscrow} from "./interfaces/IOrderEscrow.sol";
import {IPlatformPool} from "./interfaces/IPlatformPool.sol";

/// @title See {IOrderEscrow}.
contract OrderEscrow is OpenOrders, EnclaveAuthorized, SignedOpenings, Sweepable {
    using SafeERC20 for IERC20;

    /// @dev A stored order, found by the first 16 bytes of its id; `idTail` has the others. Account to `institution` share a
    /// slot, as do amount and tail. `amount` is in USDC, or of a deposit in shares, which include the first `ratios` of their symbol.
    struct Order {
        address account;
        uint40 deadline;
        State state;
        bool isDeposit;
        uint16 ratios;
        uint24 institution;
        uint128 amount;
        bytes16 idTail;
        bytes32 commit;
    }

    /// @dev What is claimed, including the first `ratios` of a symbol.
    struct Claim {
        uint192 amount;
        uint16 ratios;
    }

    bytes32 private constant ORDER_SETTLEMENT_TYPEHASH = keccak256(
        "OrderSettlement(bytes32 orderId,address account,bytes32 asset,uint256 amount,bytes32 commit,bytes32 payoutAsset,uint256 payout,uint64 version,bytes32 previous,bytes32 actions,bytes enclaveBlob,bytes userBlob)"
    );
    bytes32 private constant ORDER_REFUND_TYPEHASH = keccak256(
        "OrderRefund(bytes32 orderId,address account,bytes32 asset,uint256 amount,bytes32 commit,uint64 version,bytes32 previous,bytes32 actions,bytes enclaveBlob,bytes userBlob)"
    );

    /// @inheritdoc IOrderEscrow
    uint64 public constant MAX_LIFETIME = 30 days;

    /// @inheritdoc IOrderEscrow
    uint256 public constant MAX_OPEN_ORDERS = 20;

    /// @inheritdoc IOrderEscrow
    uint256 public immutable deployedAt = block.timestamp;

    /// @inheritdoc IOrderEscrow
    IInstitutionRegistry public immutable registry;

    /// @inheritdoc IOrderEscrow
    IConfidentialLedger public immutable ledger;

    /// @inheritdoc IOrderEscrow
    IEquityToken public immutable token;

    mapping(bytes16 idHead => Order) private _orders;

    /// @dev The symbols of deposits. Another order neither writes nor reads a slot for it.
    mapping(bytes16 idHead => bytes32) private _symbols;

    mapping(address account => mapping(bytes32 asset => Claim)) private _claims;

    /// @dev The sum of all {_claims}.
    mapping(bytes32 asset => Claim) private _claimed;

    /// @inheritdoc IOrderEscrow
    mapping(address account => mapping(bytes32 asset => address)) public claimRecipientOf;

    constructor(
        IAuthority authority_,
        IERC20 usdc_,
        address pool_,
        IInstitutionRegistry registry_,
        IConfidentialLedger ledger_,
        IEquityToken token_
    ) EnclaveAuthorized("OrderEscrow", authority_) Sweepable(usdc_, pool_) {
        registry = registry_;
        ledger = ledger_;
        token = token_;
    }

    /// @inheritdoc IOrderEscrow
    function openBuy(bytes32 orderId, bytes32 commit, uint256 amount, uint64 deadline) external nonReentrant {
        require(amount > 0, Errors.ZeroAmount());
        _open(msg.sender, orderId, commit, 0, amount, deadline, registry.buyerOrgOf(msg.sender));
        usdc.safeTransferFrom(msg.sender, address(this), amount);
    }

    /// @inheritdoc IOrderEscrow
    function openBuyFor(BuyOpening calldata o, bytes calldata signature) external nonReentrant {
        _requireCurrent(o.validBefore);
        require(o.amount > 0, Errors.ZeroAmount());
        _open(o.account, o.orderId, o.commit, 0, o.amount, o.deadline, registry.buyerOrgOf(o.account));
        _receiveSigned(usdc, o, signature);
    }

    /// @inheritdoc IOrderEscrow
    function openRequest(bytes32 orderId, bytes32 commit, uint64 deadline) external nonReentrant {
        _open(msg.sender, orderId, commit, 0, 0, deadline, registry.orgOf(msg.sender));
    }

    /// @inheritdoc IOrderEscrow
    function openDeposit(bytes32 orderId, bytes32 commit, bytes32 symbol, uint256 amount, uint64 deadline)
        external
        nonReentrant
    {
        require(amount > 0, Errors.ZeroAmount());
        _open(msg.sender, orderId, commit, symbol, amount, deadline, registry.orgOf(msg.sender));
        // Not {_tokenOf}: USDC is no equity, and the escrow would not count it.
        IERC20(token.sharesOf(symbol)).safeTransferFrom(msg.sender, address(this), amount);
    }

    /// @inheritdoc IOrderEscrow
    function openRequestFor(RequestOpening calldata o, bytes calldata signature) external nonReentrant {
        _requireCurrent(o.validBefore);
        _requireSigned(o, signature);
        _open(o.account, o.orderId, o.commit, 0, 0, o.deadline, registry.orgOf(o.account));
    }

    /// @inheritdoc IOrderEscrow
    function settle(OrderSettlement calldata a, bytes calldata signature) external nonReentrant {
        _authorize(hashOrderSettlement(a), signature);
        require((a.payoutAsset == bytes32(0)) == (a.payout == 0), InvalidPayout(a.payoutAsset, a.payout));
        requireOrder(a.orderId, a.account, a.asset, a.amount, a.commit, State.OPEN);
        if (_isShares(a.asset) || _isShares(a.payoutAsset)) token.actions().requireWhole(a.actions);
        _close(a.orderId, State.SETTLED);
        emit OrderSettled(a.orderId, a.account, _usdcOf(a.asset, a.amount), a.payoutAsset, a.payout);
        bytes32 accountId = keccak256(abi.encodePacked(a.account));
        ledger.writePortfolio(accountId, a.version, a.previous, a.actions, a.enclaveBlob, a.userBlob);
        if (a.amount > 0) _tokenOf(a.asset).safeTransfer(pool, a.amount);
        if (a.payout > 0 && !IPlatformPool(pool).payout(a.account, a.payoutAsset, a.payout)) {
            _addClaim(a.account, a.payoutAsset, a.payout);
        }
    }

    /// @inheritdoc IOrderEscrow
    function refund(OrderRefund calldata a, bytes calldata signature) external nonReentrant {
        _authorize(hashOrderRefund(a), signature);
        requireOrder(a.orderId, a.account, a.asset, a.amount, a.commit, State.OPEN);
        _close(a.orderId, State.REFUNDED);
        emit OrderRefunded(a.orderId, a.account, _usdcOf(a.asset, a.amount));
        bytes32 accountId = keccak256(abi.encodePacked(a.account));
        if (a.enclaveBlob.length == 0 && a.userBlob.length == 0) {
            ledger.requirePortfolio(accountId, a.version, a.previous);
        } else {
            ledger.writePortfolio(accountId, a.version, a.previous, a.actions, a.enclaveBlob, a.userBlob);
        }
        _returnEscrow(a.account, a.asset, a.amount);
    }

    /// @inheritdoc IOrderEscrow
    function reclaim(bytes32 orderId) external nonReentrant {
        Order storage order = _orders[bytes16(orderId)];
        State state = _stateOf(orderId, order);
        require(state == State.OPEN, OrderNotOpen(orderId, state));
        require(msg.sender == order.account, NotOrderAccount(order.account, msg.sender));
        uint256 availableAt = uint256(order.deadline) + authority.RECLAIM_DELAY();
        require(block.timestamp >= availableAt, ReclaimTooEarly(availableAt, block.timestamp));
        _close(orderId, State.REFUNDED);
        (bytes32 asset, uint256 amount) = _escrowOf(orderId, order);
        emit OrderRefunded(orderId, msg.sender, _usdcOf(asset, amount));
        _returnEscrow(msg.sender, asset, amount);
    }

    /// @inheritdoc IOrderEscrow
    function claim(bytes32 asset, address to) external nonReentrant {
        uint256 amount = claims(msg.sender, asset);
        require(amount > 0, NoClaim(msg.sender, asset));
        require(
            to == msg.sender || (to == claimRecipientOf[msg.sender][asset] && token.isKyc(to)),
            NotClaimRecipient(msg.sender, asset, to)
        );
        delete _claims[msg.sender][asset];
        _change(_claimed[asset], asset, 0, amount);
        emit ClaimPaid(msg.sender, asset, to, amount);
        _tokenOf(asset).safeTransfer(to, amount);
    }

    /// @inheritdoc IOrderEscrow
    function approveClaimRecipient(address account, bytes32 asset, address to) external onlyOwner {
        claimRecipientOf[account][asset] = to;
        emit ClaimRecipientApproved(account, asset, to);
    }

    /// @inheritdoc IOrderEscrow
    function claims(address account, bytes32 asset) public view returns (uint256 amount) {
        Claim storage stored = _claims[account][asset];
        (amount,) = _carried(asset, stored.amount, stored.ratios);
    }

    /// @inheritdoc IOrderEscrow
    function claimed(bytes32 asset) public view returns (uint256 amount) {
        Claim storage stored = _claimed[asset];
        (amount,) = _carried(asset, stored.amount, stored.ratios);
    }

    /// @inheritdoc IOrderEscrow
    function takenBy(bytes16 idHead) external view returns (address) {
        return _orders[idHead].account;
    }

    /// @inheritdoc IOrderEscrow
    function requireOrder(bytes32 orderId, address account, bytes32 asset, uint256 amount, bytes32 commit, State state)
        public
        view
    {
        Order storage order = _orders[bytes16(orderId)];
        State current = _stateOf(orderId, order);
        if (state == State.OPEN) require(current == state, OrderNotOpen(orderId, current));
        else require(current == State.REFUNDED && state == current, OrderNotRefunded(orderId, current));
        (bytes32 asset_, uint256 amount_) = _escrowOf(orderId, order);
        require(
            order.account == account && amount_ == amount && order.commit == commit && asset_ == asset,
            OrderMismatch(orderId)
        );
    }

    /// @inheritdoc IOrderEscrow
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
        (account, deadline, commit, state) = (order.account, order.deadline, order.commit, order.state);
        orgId = _orgIds[order.institution];
        symbol = _symbols[bytes16(orderId)];
        if (!order.isDeposit) amount = order.amount;
        else (, shares) = _escrowOf(orderId, order);
    }

    /// @inheritdoc IOrderEscrow
    function hashOrderSettlement(OrderSettlement calldata a) public view returns (bytes32) {
        // Encodes in two halves to stay within the EVM's stack limit.
        bytes memory order = abi.encode(ORDER_SETTLEMENT_TYPEHASH, a.orderId, a.account, a.asset, a.amount, a.commit);
        bytes memory effect = abi.encode(
            a.payoutAsset, a.payout, a.version, a.previous, a.actions, keccak256(a.enclaveBlob), keccak256(a.userBlob)
        );
        return _hashTypedDataV4(keccak256(bytes.concat(order, effect)));
    }

    /// @inheritdoc IOrderEscrow
    function hashOrderRefund(OrderRefund calldata a) public view returns (bytes32) {
        bytes memory order = abi.encode(ORDER_REFUND_TYPEHASH, a.orderId, a.account, a.asset, a.amount, a.commit);
        bytes memory write = abi.encode(a.version, a.previous, a.actions, keccak256(a.enclaveBlob), keccak256(a.userBlob));
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
        require(token.isKyc(account), Errors.NotCleared(account));
        uint64 now_ = uint64(block.timestamp);
        require(
            now_ < deadline && deadline <= now_ + MAX_LIFETIME, DeadlineOutOfRange(deadline, now_, now_ + MAX_LIFETIME)
        );
        uint256 open = openOrdersBy(account);
        require(open < MAX_OPEN_ORDERS, TooManyOpenOrders(account, open, MAX_OPEN_ORDERS));
        address holder = _orders[bytes16(orderId)].account;
        require(holder == address(0), OrderIdTaken(orderId, holder));

        uint256 inUsdc = symbol == 0 ? amount : 0;
        Order memory order;
        (order.account, order.deadline, order.state) = (account, uint40(deadline), State.OPEN);
        (order.amount, order.idTail, order.commit) = (SafeCast.toUint128(amount), _tailOf(orderId), commit);
        order.institution = _countOpened(account, orgId, inUsdc);
        if (symbol != 0) {
            order.isDeposit = true;
            (, order.ratios) = _carried(symbol, 0, 0);
            _symbols[bytes16(orderId)] = symbol;
        }
        _orders[bytes16(orderId)] = order;
        emit OrderOpened(orderId, account, inUsdc, deadline, commit);
    }

    /// @dev The state of `order`, which has the first half of the id; NONE if it has another second half.
    function _stateOf(bytes32 orderId, Order storage order) private view returns (State) {
        return order.idTail == _tailOf(orderId) ? order.state : State.NONE;
    }

    function _tailOf(bytes32 orderId) private pure returns (bytes16) {
        return bytes16(orderId << 128);
    }

    /// @dev Closes an open order. Ratios that come later are none of its shares'.
    function _close(bytes32 orderId, State state) private {
        Order storage order = _orders[bytes16(orderId)];
        (, uint256 amount) = _escrowOf(orderId, order);
        if (amount != order.amount) order.amount = uint128(amount);
        order.state = state;
        _countEnded(order.account, order.institution, order.isDeposit ? 0 : order.amount);
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

    /// @dev What an order has in escrow, or had when it ended; zero for a request.
    function _escrowOf(bytes32 orderId, Order storage order) private view returns (bytes32 asset, uint256 amount) {
        amount = order.amount;
        if (amount == 0) return (0, 0);
        if (!order.isDeposit) return (Assets.USDC, amount);
        asset = _symbols[bytes16(orderId)];
        if (order.state == State.OPEN) (amount,) = _carried(asset, amount, order.ratios);
        if (amount == 0) asset = 0;
    }

    /// @dev An amount after the ratios of its symbol that it does not include yet, and the number of them all. USDC has none.
    function _carried(bytes32 asset, uint256 amount, uint16 ratios) private view returns (uint256, uint16) {
        if (!_isShares(asset)) return (amount, 0);
        return token.actions().carry(asset, amount, ratios);
    }

    function _isShares(bytes32 asset) private pure returns (bool) {
        return asset != 0 && asset != Assets.USDC;
    }

    function _tokenOf(bytes32 asset) private view returns (IERC20) {
        return asset == Assets.USDC ? usdc : token.sharesOf(asset);
    }

    /// @dev The amount as events show it.
    function _usdcOf(bytes32 asset, uint256 amount) private pure returns (uint256) {
        return asset == Assets.USDC ? amount : 0;
    }

    function _addClaim(address account, bytes32 asset, uint256 amount) private {
        _change(_claims[account][asset], asset, amount, 0);
        _change(_claimed[asset], asset, amount, 0);
        emit ClaimMade(account, asset, amount);
    }

    function _change(Claim storage stored, bytes32 asset, uint256 more, uint256 less) private {
        (uint256 amount, uint16 ratios) = _carried(asset, stored.amount, stored.ratios);
        (stored.amount, stored.ratios) = (SafeCast.toUint192(amount + more - less), ratios);
    }

    /// @dev USDC of open orders and claims. Any excess was sent here by mistake.
    function _accountedUsdc() internal view override returns (uint256) {
        return escrowed() + claimed(Assets.USDC);
    }
}
