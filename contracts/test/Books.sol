// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IAuthority} from "../interfaces/IAuthority.sol";
import {IConfidentialLedger} from "../interfaces/IConfidentialLedger.sol";
import {ICorporateActions} from "../interfaces/ICorporateActions.sol";
import {IEquityShares} from "../interfaces/IEquityShares.sol";
import {IEquityToken} from "../interfaces/IEquityToken.sol";
import {IInstitutionRegistry} from "../interfaces/IInstitutionRegistry.sol";
import {IOrderEscrow} from "../interfaces/IOrderEscrow.sol";
import {IPlatformPool} from "../interfaces/IPlatformPool.sol";
import {ISignedOpenings} from "../interfaces/ISignedOpenings.sol";
import {ISweepable} from "../interfaces/ISweepable.sol";
import {Platform, RefusingUsdc, vm} from "./Platform.sol";

/**
 * @title What everyone's actions must add up to.
 *
 * @dev The books follow from the product's text alone: an action that succeeds changes them, one that reverts leaves them. An action that
 * must never succeed is tried in a low-level call, and sets {violation} if it does.
 */
abstract contract Books {
    struct Booked {
        address account;
        bytes32 asset;
        uint256 amount;
        bytes32 commit;
        bytes32 orgId;
        uint64 deadline;
        IOrderEscrow.State state;
        uint256 ends;
    }

    struct Role {
        address current;
        address next;
        uint256 effectiveAt;
    }

    /// @dev A rulebook on its way, of which `next` parts are there. No two of an institution have the same `seed`.
    struct Rulebook {
        address admin;
        uint64 version;
        uint8 parts;
        uint8 next;
        uint256 seed;
    }

    struct Authorization {
        address target;
        bytes call;
    }

    bytes32 public constant USDC = "USDC";
    uint256 internal constant OTHER_KEY = 0xe2;
    address internal constant STRANGER = address(0xBAD);
    /// @dev In no institution.
    address internal constant SUCCESSOR = address(0x5CC);

    Platform public immutable platform = new Platform();
    RefusingUsdc internal immutable usdc = platform.usdc();
    IAuthority internal immutable authority = platform.authority();
    IInstitutionRegistry internal immutable registry = platform.registry();
    IOrderEscrow internal immutable escrow = platform.escrow();
    IConfidentialLedger internal immutable ledger = platform.ledger();
    IEquityToken internal immutable token = platform.token();
    IPlatformPool internal immutable pool = platform.pool();
    ICorporateActions internal immutable actions = platform.token().actions();

    /// @notice What happened and must not; empty so far.
    string public violation;
    uint256 public currentTime = 1_800_000_000;

    bytes32[] public orderIds;
    mapping(bytes32 orderId => Booked) public booked;
    mapping(address account => mapping(bytes32 asset => uint256)) public claims;
    mapping(address account => mapping(bytes32 asset => address)) internal _claimRecipient;
    mapping(bytes32 asset => uint256) public poolHolds;
    mapping(bytes32 asset => uint256) public minted;
    mapping(address account => uint64) public versions;
    mapping(address account => bytes32) public histories;
    mapping(address account => bytes32) public blobHashes;
    mapping(bytes32 orgId => uint64) public policyVersions;
    mapping(bytes32 orgId => bytes32) public policyHashes;
    mapping(bytes32 orgId => Rulebook) internal _begun;
    mapping(bytes32 orgId => bool) public admitted;
    mapping(address wallet => bytes32) private _memberOf;
    /// @dev When a membership ends by itself; zero while its wallet stays.
    mapping(address wallet => uint256) internal _leavesAt;
    mapping(address wallet => bool) public kyc;
    /// @dev By the name that the owner gave.
    mapping(bytes32 symbol => mapping(address wallet => bool)) private _frozen;
    mapping(bytes32 symbol => bool) public listed;
    mapping(bytes32 symbol => bytes32) internal _formerName;
    mapping(bytes32 symbol => bytes32) internal _successor;
    mapping(bytes32 symbol => uint64) internal _batches;
    /// @dev The running hash of the corporate actions after each, from the empty list on.
    bytes32[] internal _lists = [bytes32(0)];
    mapping(address target => uint256) public gifts;
    uint256 public treasury;
    uint256 public pausedUntil;
    Role[3] public roles;
    /// @notice The measurements of the signer in force and of the next one.
    bytes32 public program;
    bytes32 public nextProgram;
    mapping(bytes32 measurement => bool) public revoked;
    Authorization[] internal _used;

    modifier atCurrentTime() {
        vm.warp(currentTime);
        _;
    }

    // ---- who and what ----

    function walletKey(uint256 i) public pure returns (uint256) {
        return 0xa0 + i % 5;
    }

    function walletOf(uint256 i) public pure returns (address) {
        return vm.addr(walletKey(i));
    }

    function symbolOf(uint256 i) public pure returns (bytes32) {
        return i % 2 == 0 ? bytes32("AAPL") : bytes32("MSFT");
    }

    /// @notice The symbols, and the one that no equity has at first.
    function nameOf(uint256 i) public pure returns (bytes32) {
        return i % 3 == 2 ? bytes32("NEW") : symbolOf(i % 3);
    }

    function orgOf(uint256 i) public pure returns (bytes32) {
        return [bytes32("Acme"), "Umbra", "Initech"][i % 3];
    }

    function orders() public view returns (uint256) {
        return orderIds.length;
    }

    function holderOf(uint256 role) public view returns (address) {
        Role memory r = roles[role];
        return r.effectiveAt != 0 && currentTime >= r.effectiveAt ? r.next : r.current;
    }

    /// @dev The oldest name of the equity that has, or had, the symbol.
    function _firstName(bytes32 symbol) internal view returns (bytes32) {
        while (_formerName[symbol] != 0) symbol = _formerName[symbol];
        return symbol;
    }

    function _lastName(bytes32 symbol) internal view returns (bytes32) {
        while (_successor[symbol] != 0) symbol = _successor[symbol];
        return symbol;
    }

    /// @notice Whether a wallet's holding is frozen, under any name of its equity.
    function frozen(bytes32 symbol, address wallet) public view returns (bool) {
        for (bytes32 name = _firstName(symbol); name != 0; name = _successor[name]) {
            if (_frozen[name][wallet]) return true;
        }
        return false;
    }

    function _freeze(bytes32 symbol, address wallet, bool on) internal {
        if (on) {
            _frozen[symbol][wallet] = true;
            return;
        }
        for (bytes32 name = _firstName(symbol); name != 0; name = _successor[name]) _frozen[name][wallet] = false;
    }

    /// @notice The number of corporate actions.
    function enacted() public view returns (uint256) {
        return _lists.length - 1;
    }

    function listHash() public view returns (bytes32) {
        return _lists[enacted()];
    }

    function isPaused() public view returns (bool) {
        return currentTime < pausedUntil;
    }

    function memberOf(address wallet) public view returns (bytes32) {
        return _leavesAt[wallet] != 0 && currentTime >= _leavesAt[wallet] ? bytes32(0) : _memberOf[wallet];
    }

    function _setMember(bytes32 orgId, address wallet) internal {
        _must(orgId == 0 || memberOf(wallet) == 0, "a wallet entered an institution from another");
        (_memberOf[wallet], _leavesAt[wallet]) = (orgId, 0);
    }

    /// @dev Of four calls that switch something, three switch it to what lets orders go on.
    function isUsual(uint256 seed) internal pure returns (bool) {
        return seed % 4 != 0;
    }

    // ---- books ----

    function _next(uint256 lifetime) internal view returns (bytes32 orderId, bytes32 commit, uint64 deadline) {
        orderId = keccak256(abi.encode(orderIds.length));
        commit = keccak256(abi.encode(orderId));
        deadline = uint64(currentTime + 1 + lifetime % 30 days);
    }

    function _book(bytes32 orderId, Booked memory order) internal {
        _must(!isPaused(), "an opening during a pause");
        _must(kyc[order.account], "an opening without KYC");
        _must(booked[orderId].state == IOrderEscrow.State.NONE, "an order was opened twice");
        booked[orderId] = order;
        orderIds.push(orderId);
    }

    /// @dev Reverts if there is none.
    function _pick(uint256 pick, IOrderEscrow.State state) internal view returns (bytes32, Booked memory) {
        uint256 count = orderIds.length;
        for (uint256 i = 0; i < count; i++) {
            bytes32 orderId = orderIds[(pick % count + i) % count];
            if (booked[orderId].state == state) return (orderId, booked[orderId]);
        }
        revert("no such order");
    }

    function _authorized(address target, bytes memory call) internal {
        (bool ok, bytes memory answer) = target.call(call);
        if (!ok) {
            assembly ("memory-safe") {
                revert(add(answer, 32), mload(answer))
            }
        }
        _must(!isPaused(), "an authorization acted during a pause");
        _used.push(Authorization(target, call));
    }

    function _wrote(address account, uint64 version, bytes32 previous, bytes memory blob, bytes memory user) internal {
        versions[account] = version;
        histories[account] = keccak256(abi.encode(previous, version, keccak256(blob), keccak256(user)));
        blobHashes[account] = keccak256(abi.encode(blob, user));
    }

    function _returned(bytes32 orderId, uint256 before) internal {
        _end(orderId, IOrderEscrow.State.REFUNDED);
        Booked memory b = booked[orderId];
        if (b.amount == 0) return;
        uint256 now_ = _balance(b.asset, b.account);
        if (now_ == before) claims[b.account][b.asset] += b.amount;
        else _must(now_ == before + b.amount, "an order returned another amount");
    }

    function _end(bytes32 orderId, IOrderEscrow.State state) internal {
        booked[orderId].state = state;
        booked[orderId].ends++;
    }

    /// @dev A wallet that holds some. Reverts if there is none.
    function _shareholder(IEquityShares shares, uint256 seed) internal view returns (uint256) {
        for (uint256 i = 0; i < 5; i++) {
            if (shares.balanceOf(walletOf(seed % 5 + i)) > 0) return seed % 5 + i;
        }
        revert("no shareholder");
    }

    function _assetAt(uint256 i) internal pure returns (bytes32) {
        return i % 3 == 2 ? USDC : symbolOf(i % 3);
    }

    function _balance(bytes32 asset, address account) internal view returns (uint256) {
        return asset == USDC ? usdc.balanceOf(account) : token.balanceOf(account, asset);
    }

    function _sweepable(uint256 i) internal view returns (ISweepable) {
        ISweepable[5] memory all = [
            ISweepable(address(authority)),
            ISweepable(address(registry)),
            ISweepable(address(escrow)),
            ISweepable(address(ledger)),
            ISweepable(address(token))
        ];
        return all[i % all.length];
    }

    function _blobs(uint256 seed) internal view returns (bytes memory, bytes memory) {
        return (_blob(seed, 1 + seed % 128), _blob(~seed, 1 + seed / 128 % 128));
    }

    function _blob(uint256 seed, uint256 length) private view returns (bytes memory blob) {
        bytes32 word = keccak256(abi.encode(seed, currentTime, orderIds.length));
        blob = abi.encode(word, ~word, seed, ~seed);
        assembly ("memory-safe") {
            mstore(blob, length)
        }
    }

    function _must(bool holds, string memory fault) internal {
        if (!holds) violation = fault;
    }

    function _mustFail(address from, address target, bytes memory call) internal {
        vm.prank(from);
        (bool ok,) = target.call(call);
        if (ok) violation = string.concat("succeeded, and must not: ", string(abi.encodePacked(bytes4(call))));
    }

    // ---- signatures ----

    function _enclaveSign(bytes32 digest) internal view returns (bytes memory) {
        uint256 key = platform.ENCLAVE_KEY();
        return _sign(holderOf(2) == vm.addr(key) ? key : OTHER_KEY + 1, digest);
    }

    function _sign(uint256 key, bytes32 digest) internal pure returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, digest);
        return abi.encodePacked(r, s, v);
    }

    bytes32 internal constant RECEIVE_TYPEHASH = keccak256(
        "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );

    function _signBuy(uint256 key, ISignedOpenings.BuyOpening memory o) internal view returns (bytes memory) {
        bytes32 nonce = escrow.buyNonce(o.orderId, o.commit, o.deadline);
        bytes32 structHash =
            keccak256(abi.encode(RECEIVE_TYPEHASH, o.account, address(escrow), o.amount, 0, o.validBefore, nonce));
        return _sign(key, keccak256(abi.encodePacked(hex"1901", usdc.DOMAIN_SEPARATOR(), structHash)));
    }
}
