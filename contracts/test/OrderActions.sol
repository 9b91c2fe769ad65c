// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IConfidentialLedger} from "../interfaces/IConfidentialLedger.sol";
import {IEquityShares} from "../interfaces/IEquityShares.sol";
import {IOrderEscrow} from "../interfaces/IOrderEscrow.sol";
import {ISignedOpenings} from "../interfaces/ISignedOpenings.sol";
import {vm} from "./Platform.sol";
import {Books} from "./Books.sol";

/// @title Openings, ends and writes of orders, and rulebooks: right ones, and some with one fault.
abstract contract OrderActions is Books {
    // ---- openings ----

    function openBuy(uint256 who, uint256 amount, uint256 lifetime, bool signed) external atCurrentTime {
        address wallet = walletOf(who);
        amount = 1 + amount % 1_000_000_000;
        usdc.mint(wallet, amount);
        (bytes32 orderId, bytes32 commit, uint64 deadline) = _next(lifetime);
        bytes32 orgId = registry.orgOf(wallet);
        if (signed) {
            ISignedOpenings.BuyOpening memory o =
                ISignedOpenings.BuyOpening(wallet, orderId, commit, amount, deadline, deadline);
            escrow.openBuyFor(o, _signBuy(walletKey(who), o));
        } else {
            vm.prank(wallet);
            usdc.approve(address(escrow), amount);
            vm.prank(wallet);
            escrow.openBuy(orderId, commit, amount, deadline);
        }
        _must(admitted[orgId], "a buy without an admitted institution");
        _must(_leavesAt[wallet] == 0, "a buy of a wallet that leaves");
        _book(orderId, Booked(wallet, USDC, amount, commit, orgId, deadline, IOrderEscrow.State.OPEN, 0));
    }

    function openRequest(uint256 who, uint256 lifetime, bool signed) public atCurrentTime {
        address wallet = walletOf(who);
        (bytes32 orderId, bytes32 commit, uint64 deadline) = _next(lifetime);
        if (signed) {
            ISignedOpenings.RequestOpening memory o =
                ISignedOpenings.RequestOpening(wallet, orderId, commit, deadline, deadline);
            escrow.openRequestFor(o, _sign(walletKey(who), escrow.hashRequestOpening(o)));
        } else {
            vm.prank(wallet);
            escrow.openRequest(orderId, commit, deadline);
        }
        _book(orderId, Booked(wallet, 0, 0, commit, registry.orgOf(wallet), deadline, IOrderEscrow.State.OPEN, 0));
    }

    function openDeposit(uint256 who, uint256 which, uint256 amount, uint256 lifetime) external atCurrentTime {
        bytes32 symbol = symbolOf(which);
        IEquityShares shares = token.sharesOf(symbol);
        address wallet = walletOf(_shareholder(shares, who));
        amount = 1 + amount % shares.balanceOf(wallet);
        (bytes32 orderId, bytes32 commit, uint64 deadline) = _next(lifetime);
        vm.prank(wallet);
        shares.approve(address(escrow), amount);
        vm.prank(wallet);
        escrow.openDeposit(orderId, commit, symbol, amount, deadline);
        _must(!frozen(symbol, wallet), "a deposit of frozen shares");
        _book(
            orderId,
            Booked(wallet, symbol, amount, commit, registry.orgOf(wallet), deadline, IOrderEscrow.State.OPEN, 0)
        );
    }

    /// @dev Opens as many orders as an account may have, and tries one more.
    function openTooMany(uint256 who) external atCurrentTime {
        address wallet = walletOf(who);
        if (who % 16 != 0) return;
        while (escrow.openOrdersBy(wallet) < 20) openRequest(who, 30 days - 1, false);
        (bytes32 orderId, bytes32 commit, uint64 deadline) = _next(1 days);
        _mustFail(wallet, address(escrow), abi.encodeCall(escrow.openRequest, (orderId, commit, deadline)));
    }

    /// @dev Every opening that must fail: another party's signature, a late one, a repeated id, a deadline out of range, too much.
    function openWrongly(uint256 who, uint256 kind) external atCurrentTime {
        address wallet = walletOf(who);
        uint256 amount = 5_000_000;
        usdc.mint(wallet, amount);
        (bytes32 orderId, bytes32 commit, uint64 deadline) = _next(1 days);
        kind %= 8;
        if (kind < 4) {
            bool isLate = kind % 2 == 1;
            uint256 key = isLate ? walletKey(who) : OTHER_KEY;
            uint64 validBefore = isLate ? uint64(currentTime) : deadline;
            if (kind < 2) {
                ISignedOpenings.BuyOpening memory o =
                    ISignedOpenings.BuyOpening(wallet, orderId, commit, amount, deadline, validBefore);
                _mustFail(address(this), address(escrow), abi.encodeCall(escrow.openBuyFor, (o, _signBuy(key, o))));
            } else {
                ISignedOpenings.RequestOpening memory o =
                    ISignedOpenings.RequestOpening(wallet, orderId, commit, deadline, validBefore);
                bytes memory signature = _sign(key, escrow.hashRequestOpening(o));
                _mustFail(address(this), address(escrow), abi.encodeCall(escrow.openRequestFor, (o, signature)));
            }
            return;
        }
        if (kind == 4) orderId = orderIds[who % orderIds.length];
        if (kind == 5) deadline = uint64(currentTime);
        if (kind == 6) deadline = uint64(currentTime + 30 days + 1);
        // Only the first 16 bytes of an id count.
        if (kind == 7) orderId = bytes32(uint256(orderIds[who % orderIds.length]) ^ 1);
        _mustFail(wallet, address(escrow), abi.encodeCall(escrow.openRequest, (orderId, commit, deadline)));
    }

    // ---- ends ----

    /// @param wrong what the authorization gets wrong: 1 to 8 must fail
    function settle(uint256 pick, uint256 asset, uint256 payout, uint256 wrong) public atCurrentTime {
        (bytes32 orderId, Booked memory b) = _pick(pick, IOrderEscrow.State.OPEN);
        IOrderEscrow.OrderSettlement memory a = _settlementOf(orderId, b, payout);
        asset %= 4;
        a.payoutAsset = asset == 0 ? bytes32(0) : asset == 1 ? USDC : symbolOf(asset);
        uint256 available = poolHolds[a.payoutAsset] + (a.payoutAsset == b.asset ? b.amount : 0);
        if (asset > 0) a.payout = 1 + payout % available;
        wrong %= 16;
        if (wrong == 1) a.amount += 1;
        if (wrong == 2) {
            a.account = a.account == walletOf(0) ? walletOf(1) : walletOf(0);
            (a.version, a.previous) = (versions[a.account] + 1, histories[a.account]);
        }
        if (wrong == 3) a.commit = ~a.commit;
        if (wrong == 4) a.version = payout % 2 == 0 ? a.version + 1 : a.version - 1;
        if (wrong == 5) a.previous = ~a.previous;
        if (wrong == 6) a.asset = a.asset == 0 ? USDC : bytes32(0);
        if (wrong == 7) (a.payoutAsset, a.payout) = (asset == 0 ? USDC : bytes32(0), asset == 0 ? 0 : 1);
        if (wrong == 8) (a.payoutAsset, a.payout) = (USDC, poolHolds[USDC] + b.amount + 1);
        if (wrong == 9) payout % 2 == 0 ? a.enclaveBlob = "" : a.userBlob = "";
        if (wrong == 11) a.actions = ~a.actions;
        // Of an earlier list: right where no shares move.
        if (wrong == 12) a.actions = _lists[payout % _lists.length];
        bool isStale = a.actions != listHash() && (asset > 1 || (b.asset != 0 && b.asset != USDC));
        if ((wrong > 0 && wrong < 10) || wrong == 11 || isStale) return _mustNotSettle(a);
        if (wrong == 10) {
            return _mustFail(
                address(this),
                address(escrow),
                abi.encodeCall(escrow.settle, (a, _sign(OTHER_KEY, escrow.hashOrderSettlement(a))))
            );
        }
        uint256 before = a.payout > 0 ? _balance(a.payoutAsset, b.account) : 0;
        _authorized(address(escrow), abi.encodeCall(escrow.settle, (a, _enclaveSign(escrow.hashOrderSettlement(a)))));
        _end(orderId, IOrderEscrow.State.SETTLED);
        _wrote(b.account, a.version, a.previous, a.enclaveBlob, a.userBlob);
        poolHolds[b.asset] += b.amount;
        if (a.payout == 0) return;
        poolHolds[a.payoutAsset] -= a.payout;
        if (_balance(a.payoutAsset, b.account) == before) claims[b.account][a.payoutAsset] += a.payout;
        else _must(_balance(a.payoutAsset, b.account) == before + a.payout, "a payout of another amount");
    }

    /// @dev One that pays out nothing.
    function _settlementOf(bytes32 orderId, Booked memory b, uint256 seed)
        private
        view
        returns (IOrderEscrow.OrderSettlement memory a)
    {
        (a.orderId, a.account, a.asset, a.amount, a.commit) = (orderId, b.account, b.asset, b.amount, b.commit);
        (a.version, a.previous, a.actions) = (versions[b.account] + 1, histories[b.account], listHash());
        (a.enclaveBlob, a.userBlob) = _blobs(seed);
    }

    function _mustNotSettle(IOrderEscrow.OrderSettlement memory a) private {
        bytes memory signature = _enclaveSign(escrow.hashOrderSettlement(a));
        _mustFail(address(this), address(escrow), abi.encodeCall(escrow.settle, (a, signature)));
    }

    /// @dev By chance alone, hardly any order is settled by an authorization from before the last corporate action.
    function _settleLate(bytes32 stale) internal {
        for (uint256 i = 0; i < orderIds.length; i++) {
            Booked memory b = booked[orderIds[i]];
            if (b.state != IOrderEscrow.State.OPEN) continue;
            IOrderEscrow.OrderSettlement memory a = _settlementOf(orderIds[i], b, i);
            a.actions = stale;
            bool isDeposit = b.asset != 0 && b.asset != USDC;
            if (!isDeposit) (a.payoutAsset, a.payout) = (symbolOf(i), 1);
            if (isDeposit || poolHolds[a.payoutAsset] > 0) _mustNotSettle(a);
        }
    }

    function refund(uint256 pick, bool writes, uint256 wrong) external atCurrentTime {
        (bytes32 orderId, Booked memory b) = _pick(pick, IOrderEscrow.State.OPEN);
        IOrderEscrow.OrderRefund memory a;
        (a.orderId, a.account, a.asset, a.amount, a.commit) = (orderId, b.account, b.asset, b.amount, b.commit);
        (a.version, a.previous, a.actions) = (versions[b.account], histories[b.account], _lists[pick % _lists.length]);
        if (writes) {
            a.version++;
            (a.enclaveBlob, a.userBlob) = _blobs(pick);
        }
        wrong %= 16;
        if (wrong == 1) a.amount += 1;
        if (wrong == 2) {
            a.account = a.account == walletOf(0) ? walletOf(1) : walletOf(0);
            (a.version, a.previous) = (versions[a.account] + (writes ? 1 : 0), histories[a.account]);
        }
        if (wrong == 3) a.commit = ~a.commit;
        if (wrong == 4) a.version += 1;
        if (wrong == 5) a.previous = ~a.previous;
        if (wrong == 6) a.asset = a.asset == 0 ? USDC : bytes32(0);
        if (wrong == 7 && writes) a.userBlob = "";
        if (wrong == 9) a.actions = ~a.actions;
        bytes memory call = abi.encodeCall(escrow.refund, (a, _enclaveSign(escrow.hashOrderRefund(a))));
        if (wrong > 0 && (wrong < 7 || ((wrong == 7 || wrong == 9) && writes))) return _mustFail(address(this), address(escrow), call);
        if (wrong == 8) {
            return _mustFail(
                address(this),
                address(escrow),
                abi.encodeCall(escrow.refund, (a, _sign(OTHER_KEY, escrow.hashOrderRefund(a))))
            );
        }
        uint256 before = b.amount > 0 ? _balance(b.asset, b.account) : 0;
        _authorized(address(escrow), call);
        if (writes) _wrote(b.account, a.version, a.previous, a.enclaveBlob, a.userBlob);
        _returned(orderId, before);
    }

    function reclaim(uint256 pick, bool byOther) external atCurrentTime {
        (bytes32 orderId, Booked memory b) = _pick(pick, IOrderEscrow.State.OPEN);
        bytes memory call = abi.encodeCall(escrow.reclaim, (orderId));
        if (byOther) return _mustFail(STRANGER, address(escrow), call);
        if (currentTime < b.deadline + 7 days) return _mustFail(b.account, address(escrow), call);
        uint256 before = b.amount > 0 ? _balance(b.asset, b.account) : 0;
        vm.prank(b.account);
        escrow.reclaim(orderId);
        _returned(orderId, before);
    }

    /// @dev A final order ends in no way once more.
    function endAgain(uint256 pick, uint256 way) external atCurrentTime {
        bytes32 orderId = orderIds[pick % orderIds.length];
        Booked memory b = booked[orderId];
        if (b.state == IOrderEscrow.State.OPEN) return;
        if (way % 3 == 0) return _mustFail(b.account, address(escrow), abi.encodeCall(escrow.reclaim, (orderId)));
        if (way % 3 == 1) return _mustNotSettle(_settlementOf(orderId, b, pick));
        (bytes memory blob, bytes memory user) = _blobs(pick);
        IOrderEscrow.OrderRefund memory r = IOrderEscrow.OrderRefund(
            orderId,
            b.account,
            b.asset,
            b.amount,
            b.commit,
            versions[b.account] + 1,
            histories[b.account],
            listHash(),
            blob,
            user
        );
        _mustFail(
            address(this), address(escrow), abi.encodeCall(escrow.refund, (r, _enclaveSign(escrow.hashOrderRefund(r))))
        );
    }

    // ---- portfolios and rulebooks ----

    function writePortfolio(uint256 pick, bool afterReclaim, uint256 wrong) external atCurrentTime {
        IOrderEscrow.State state = afterReclaim ? IOrderEscrow.State.REFUNDED : IOrderEscrow.State.OPEN;
        (bytes32 orderId, Booked memory b) = _pick(pick, state);
        (bytes memory blob, bytes memory user) = _blobs(pick);
        IConfidentialLedger.PortfolioUpdate memory a = IConfidentialLedger.PortfolioUpdate(
            orderId,
            b.account,
            b.asset,
            b.amount,
            b.commit,
            state,
            versions[b.account] + 1,
            histories[b.account],
            _lists[pick % _lists.length],
            blob,
            user
        );
        wrong %= 16;
        if (wrong == 1) a.state = afterReclaim ? IOrderEscrow.State.OPEN : IOrderEscrow.State.REFUNDED;
        if (wrong == 2) {
            a.account = a.account == walletOf(0) ? walletOf(1) : walletOf(0);
            (a.version, a.previous) = (versions[a.account] + 1, histories[a.account]);
        }
        if (wrong == 3) a.version += 1;
        if (wrong == 4) a.previous = ~a.previous;
        if (wrong == 5) a.enclaveBlob = "";
        if (wrong == 6) a.state = IOrderEscrow.State.SETTLED;
        if (wrong == 8) a.actions = ~a.actions;
        bytes memory call = abi.encodeCall(ledger.updatePortfolio, (a, _enclaveSign(ledger.hashPortfolioUpdate(a))));
        if ((wrong > 0 && wrong < 7) || wrong == 8) return _mustFail(address(this), address(ledger), call);
        if (wrong == 7) {
            return _mustFail(
                address(this),
                address(ledger),
                abi.encodeCall(ledger.updatePortfolio, (a, _sign(OTHER_KEY, ledger.hashPortfolioUpdate(a))))
            );
        }
        _authorized(address(ledger), call);
        _wrote(b.account, a.version, a.previous, a.enclaveBlob, a.userBlob);
    }

    /// @dev A rulebook of one to three parts: continues the one begun, or begins another. Each part is tried with its faults first.
    function writePolicy(uint256 org, uint256 seed) external atCurrentTime {
        bytes32 orgId = orgOf(org);
        address admin = registry.adminOf(orgId);
        uint64 version = policyVersions[orgId] + 1;
        Rulebook storage begun = _begun[orgId];
        bool isVoid = begun.next == 0 || begun.version != version || begun.admin != admin;
        if (isVoid && begun.next > 0) _policyMustFail(_partOf(orgId, begun), false);
        if (isVoid || seed % 4 == 0) {
            begun.admin = admin;
            begun.version = version;
            begun.parts = uint8(1 + seed % 3);
            begun.next = 0;
            begun.seed = (begun.seed / 8 + 1) * 8 + seed % 8;
        }
        IConfidentialLedger.PolicyUpdate memory a = _partOf(orgId, begun);
        if (!admitted[orgId]) return _policyMustFail(a, false);
        for (uint256 fault = 0; fault < 9; fault++) {
            _tryPolicy(_partOf(orgId, begun), fault);
        }
        if (a.part > 0) _tryBySuccessor(_partOf(orgId, begun));
        // A fault that succeeded is told: what follows would revert, and take it back.
        if (bytes(violation).length > 0) return;
        _authorized(
            address(ledger), abi.encodeCall(ledger.updatePolicy, (a, _enclaveSign(ledger.hashPolicyUpdate(a))))
        );
        begun.next++;
        if (begun.next < begun.parts) return;
        policyVersions[orgId] = version;
        bytes memory whole;
        for (uint256 i = 0; i < begun.parts; i++) {
            whole = bytes.concat(whole, _blobOf(begun.seed, i));
        }
        policyHashes[orgId] = keccak256(whole);
    }

    /// @dev A part that is right but for one fault. A first part may have any digest and number of parts, as long as more follow.
    function _tryPolicy(IConfidentialLedger.PolicyUpdate memory a, uint256 fault) private {
        bool isLast = a.part + 1 == a.parts;
        if (fault == 0) a.version += 1;
        if (fault == 1) a.admin = STRANGER;
        if (fault == 2) a.policyBlob = "";
        if (fault == 3) a.part += 1;
        if (fault == 4) a.part = a.parts;
        if (fault == 5 && (a.part > 0 || isLast)) a.digest = ~a.digest;
        else if (fault == 6 && a.part > 0) a.parts += 1;
        else if (fault == 7 && isLast) a.policyBlob = abi.encode(a.digest);
        else if (fault > 4 && fault < 8) return;
        _policyMustFail(a, fault == 8);
    }

    function _policyMustFail(IConfidentialLedger.PolicyUpdate memory a, bool isForged) private {
        bytes32 digest = ledger.hashPolicyUpdate(a);
        bytes memory signature = isForged ? _sign(OTHER_KEY, digest) : _enclaveSign(digest);
        _mustFail(address(this), address(ledger), abi.encodeCall(ledger.updatePolicy, (a, signature)));
    }

    /// @dev A new admin cannot complete what the former one began. The handover is taken back.
    function _tryBySuccessor(IConfidentialLedger.PolicyUpdate memory a) private {
        uint256 state = vm.snapshotState();
        vm.prank(a.admin);
        registry.transferAdmin(SUCCESSOR);
        vm.prank(SUCCESSOR);
        registry.acceptAdmin(a.orgId);
        a.admin = SUCCESSOR;
        bytes memory signature = _enclaveSign(ledger.hashPolicyUpdate(a));
        (bool ok,) = address(ledger).call(abi.encodeCall(ledger.updatePolicy, (a, signature)));
        vm.revertToState(state);
        _must(!ok, "a new admin completed a former one's rulebook");
    }

    function _partOf(bytes32 orgId, Rulebook memory r) private pure returns (IConfidentialLedger.PolicyUpdate memory) {
        bytes32 digest;
        for (uint256 i = 0; i < r.parts; i++) {
            digest = keccak256(abi.encode(digest, keccak256(_blobOf(r.seed, i))));
        }
        return IConfidentialLedger.PolicyUpdate(
            orgId, r.admin, r.version, r.next, r.parts, digest, _blobOf(r.seed, r.next)
        );
    }

    /// @dev Some are longer than the code of one contract.
    function _blobOf(uint256 seed, uint256 part) private pure returns (bytes memory) {
        return bytes.concat(new bytes(seed % 8 == part ? 24_570 : 0), abi.encode(seed, part));
    }
}
