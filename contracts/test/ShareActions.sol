// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {ICorporateActions} from "../interfaces/ICorporateActions.sol";
import {IEquityShares} from "../interfaces/IEquityShares.sol";
import {IOrderEscrow} from "../interfaces/IOrderEscrow.sol";
import {vm} from "./Platform.sol";
import {OrderActions} from "./OrderActions.sol";

/// @title Corporate actions, and what they make of every amount of shares: at once in these books, later on chain.
abstract contract ShareActions is OrderActions {
    ICorporateActions.Action[] private _proposed;
    mapping(bytes32 digest => uint256) private _effectiveAt;
    /// @dev In the order in which they were proposed.
    mapping(bytes32 digest => uint256) private _number;
    uint256 private _lastNumber;
    mapping(uint32 entitlement => bool) private _isPaid;

    mapping(bytes32 symbol => bool) public retired;
    /// @notice What the escrow holds beyond what it owes: each part was rounded down, and so was their sum.
    mapping(bytes32 symbol => uint256) public remainders;

    /// @dev A ratio, every second time.
    function propose(uint256 which, uint256 kind, uint256 ratio, uint256 wrong) external atCurrentTime {
        bytes32 symbol = symbolOf(which);
        if (_formerName["NEW"] == symbol) symbol = "NEW";
        ICorporateActions.Action memory a = _actionOf(symbol, kind, ratio);
        wrong %= 24;
        if (wrong == 1) a.numerator = a.denominator;
        if (wrong == 2) a.denominator = 0;
        if (wrong == 3) a.numerator = 10_001 * a.denominator + 1;
        if (wrong == 4) a.denominator = 10_001 * a.numerator + 1;
        if (wrong == 5) a.symbol = USDC;
        if (wrong == 6) a.entitlement = uint32(enacted() + 1);
        if (wrong == 7 && a.kind != ICorporateActions.Kind.SYMBOL_CHANGE) a.successor = "OTHER";
        if (wrong == 8) a.recordAt = type(uint64).max;
        bytes memory call = abi.encodeCall(actions.propose, (a));
        bool isRatio = a.kind <= ICorporateActions.Kind.STOCK_DIVIDEND;
        if ((wrong > 0 && wrong < 5 && isRatio) || (wrong > 4 && wrong < 9 && (wrong != 7 || a.successor == "OTHER"))) {
            return _mustFail(holderOf(0), address(actions), call);
        }
        if (wrong == 9) return _mustFail(STRANGER, address(actions), call);
        bytes32 digest = actions.digestOf(a);
        uint256 known = _effectiveAt[digest];
        vm.prank(holderOf(0));
        actions.propose(a);
        _must(known == 0, "an action was proposed twice");
        _proposed.push(a);
        _number[digest] = ++_lastNumber;
        uint256 delayed = currentTime + platform.ROTATION_DELAY();
        _effectiveAt[digest] = delayed > a.recordAt ? delayed : a.recordAt;
    }

    function withdrawAction(uint256 pick) external atCurrentTime {
        if (isUsual(pick)) return;
        uint256 i = pick % _proposed.length;
        bytes32 digest = actions.digestOf(_proposed[i]);
        _mustFail(STRANGER, address(actions), abi.encodeCall(actions.withdraw, (digest)));
        // A fault that succeeded is told: what follows would revert, and take it back.
        if (bytes(violation).length > 0) return;
        _withdraw(i, digest);
        _mustFail(holderOf(0), address(actions), abi.encodeCall(actions.withdraw, (digest)));
    }

    function enact(uint256 pick) external atCurrentTime {
        uint256 i = _pickProposal(pick);
        ICorporateActions.Action memory a = _proposed[i];
        bytes32 digest = actions.digestOf(a);
        bytes memory call = abi.encodeCall(actions.enact, (a));
        for (uint256 j = 0; j < _proposed.length; j++) {
            if (!_waits(_proposed[j])) continue;
            _mustFail(STRANGER, address(actions), abi.encodeCall(actions.enact, (_proposed[j])));
        }
        if (bytes(violation).length > 0) return;
        bool isDividend =
            a.kind == ICorporateActions.Kind.ENTITLEMENT || a.kind == ICorporateActions.Kind.PAYMENT;
        bool isVoid = (!isDividend && retired[a.symbol])
            || (a.kind == ICorporateActions.Kind.PAYMENT && _isPaid[a.entitlement])
            || (a.successor != 0 && (retired[a.successor] || _formerName[a.successor] != 0));
        if (isVoid || currentTime < _effectiveAt[digest] || isPaused() || _waits(a)) {
            _mustFail(STRANGER, address(actions), call);
            // Others may wait for it.
            if (isVoid && bytes(violation).length == 0) _withdraw(i, digest);
            return;
        }
        uint256[5] memory before;
        // Wallets hold none under the new name.
        bytes32 held = a.symbol == "NEW" ? _formerName[a.symbol] : a.symbol;
        for (uint256 j = 0; j < 5; j++) before[j] = token.balanceOf(walletOf(j), held);
        vm.prank(STRANGER);
        (bool ok,) = address(actions).call(call);
        _must(ok, "a corporate action that was due could not be enacted");
        if (!ok) return;
        _lists.push(keccak256(abi.encode(listHash(), digest)));
        _effectiveAt[digest] = type(uint256).max;
        _drop(i);
        _mustFail(STRANGER, address(actions), call);
        _mustFail(holderOf(0), address(actions), abi.encodeCall(actions.propose, (a)));
        _mustFail(holderOf(0), address(actions), abi.encodeCall(actions.withdraw, (digest)));
        if (a.kind == ICorporateActions.Kind.PAYMENT) _isPaid[a.entitlement] = true;
        if (a.kind >= ICorporateActions.Kind.SYMBOL_CHANGE) (retired[a.symbol], listed[a.symbol]) = (true, false);
        if (a.successor != 0) (_formerName[a.successor], _successor[a.symbol]) = (a.symbol, a.successor);
        bool isRatio = a.kind <= ICorporateActions.Kind.STOCK_DIVIDEND;
        for (uint256 j = 0; j < 5; j++) {
            uint256 expected = isRatio ? before[j] * a.numerator / a.denominator : before[j];
            _must(token.balanceOf(walletOf(j), held) == expected, "a wallet did not follow a corporate action");
        }
        for (bytes32 symbol = a.symbol; isRatio && symbol != 0; symbol = _formerName[symbol]) {
            _follow(symbol, a.numerator, a.denominator);
        }
        _settleLate(_lists[enacted() - 1]);
    }

    /// @dev Usually one that waits for no other, once it is due: by chance alone, hardly any is. It is tried a second before.
    function _pickProposal(uint256 pick) private returns (uint256 i) {
        i = pick % _proposed.length;
        if (!isUsual(pick)) return i;
        for (uint256 j = 0; j < _proposed.length; j++) {
            if (!_waits(_proposed[j])) i = j;
        }
        uint256 from = _effectiveAt[actions.digestOf(_proposed[i])];
        if (currentTime >= from) return i;
        currentTime = from;
        vm.warp(from - 1);
        _mustFail(STRANGER, address(actions), abi.encodeCall(actions.enact, (_proposed[i])));
        vm.warp(from);
    }

    /// @dev Splits of 10,000 for 1 until the supply would be above 2^128 - 1: none beyond is enacted, and every deposit can still be paid.
    function overgrow(uint256 which) external atCurrentTime {
        bytes32 symbol = symbolOf(which);
        uint256 supply = minted[symbol];
        if (isUsual(which / 2) || retired[symbol] || _formerName[symbol] != 0 || isPaused()) return;
        uint256 state = vm.snapshotState();
        bool isWrong = false;
        for (uint64 i = 0; i < 9 && !isWrong; i++) {
            ICorporateActions.Action memory a;
            (a.recordAt, a.numerator, a.denominator, a.symbol) = (i, 10_000, 1, symbol);
            vm.prank(holderOf(0));
            actions.propose(a);
            vm.warp(currentTime + platform.ROTATION_DELAY());
            (bool ok,) = address(actions).call(abi.encodeCall(actions.enact, (a)));
            vm.warp(currentTime);
            supply *= 10_000;
            isWrong = ok != (supply < 2 ** 128);
            if (!ok) break;
        }
        vm.revertToState(state);
        _must(!isWrong, "a supply above its bound, or none below it");
    }

    /// @dev One claim is paid once, and one name is of one equity: by chance alone nobody tries a second.
    function enactSecond(uint256 pick) external atCurrentTime {
        (bytes32 one, bytes32 other) = (symbolOf(0), symbolOf(1));
        if (isUsual(pick / 2) || retired[one] || retired[other] || isPaused()) return;
        uint256 state = vm.snapshotState();
        bool isWrong;
        if (pick % 2 == 0) {
            uint32 claim = uint32(enacted());
            isWrong = _isEnacted(ICorporateActions.Kind.ENTITLEMENT, one, 0, 0)
                && _isEnacted(ICorporateActions.Kind.PAYMENT, one, claim, 1) && _isEnacted(ICorporateActions.Kind.PAYMENT, one, claim, 2);
        } else {
            isWrong = _isEnacted(ICorporateActions.Kind.SYMBOL_CHANGE, one, 0, 0)
                && _isEnacted(ICorporateActions.Kind.SYMBOL_CHANGE, other, 0, 0);
        }
        vm.revertToState(state);
        _must(!isWrong, "a claim was paid twice, or two equities have one name");
    }

    /// @dev An action before all others, and whether it enters the list.
    function _isEnacted(ICorporateActions.Kind kind, bytes32 symbol, uint32 entitlement, uint64 numerator)
        private
        returns (bool ok)
    {
        ICorporateActions.Action memory a;
        (a.kind, a.symbol, a.entitlement, a.numerator) = (kind, symbol, entitlement, numerator);
        if (kind == ICorporateActions.Kind.PAYMENT) a.denominator = 1;
        if (kind == ICorporateActions.Kind.SYMBOL_CHANGE) a.successor = "OTHER";
        vm.prank(holderOf(0));
        (ok,) = address(actions).call(abi.encodeCall(actions.propose, (a)));
        if (!ok) return false;
        vm.warp(currentTime + platform.ROTATION_DELAY());
        (ok,) = address(actions).call(abi.encodeCall(actions.enact, (a)));
        vm.warp(currentTime);
    }

    /// @dev Storing what a balance has become changes nothing, whoever asks for it.
    function carryHolding(uint256 which, uint256 who) external atCurrentTime {
        IEquityShares shares = token.sharesOf(symbolOf(which));
        address account = who % 7 == 5 ? address(pool) : who % 7 == 6 ? address(escrow) : walletOf(who % 7);
        uint256 balance = shares.balanceOf(account);
        uint256 supply = shares.totalSupply();
        shares.carry(account);
        _must(shares.balanceOf(account) == balance && shares.totalSupply() == supply, "a carried balance changed");
    }

    /// @dev All that is owed in a symbol, and what there is of it, each rounded down by itself.
    function _follow(bytes32 symbol, uint256 numerator, uint256 denominator) private {
        uint256 owed = 0;
        uint256 after_ = 0;
        for (uint256 i = 0; i < orderIds.length; i++) {
            Booked storage b = booked[orderIds[i]];
            if (b.asset != symbol || b.state != IOrderEscrow.State.OPEN) continue;
            owed += b.amount;
            b.amount = b.amount * numerator / denominator;
            if (b.amount == 0) b.asset = 0;
            after_ += b.amount;
        }
        for (uint256 i = 0; i < 5; i++) {
            uint256 claim = claims[walletOf(i)][symbol];
            owed += claim;
            claims[walletOf(i)][symbol] = claim * numerator / denominator;
            after_ += claim * numerator / denominator;
        }
        remainders[symbol] = (owed + remainders[symbol]) * numerator / denominator - after_;
        poolHolds[symbol] = poolHolds[symbol] * numerator / denominator;
        minted[symbol] = minted[symbol] * numerator / denominator;
    }

    /// @dev Whether another proposal that names one of its symbols comes first.
    function _waits(ICorporateActions.Action memory a) private view returns (bool) {
        if (a.kind == ICorporateActions.Kind.PAYMENT) return false;
        for (uint256 i = 0; i < _proposed.length; i++) {
            ICorporateActions.Action memory other = _proposed[i];
            bool isFirst = other.recordAt == a.recordAt
                ? _number[actions.digestOf(other)] < _number[actions.digestOf(a)]
                : other.recordAt < a.recordAt;
            if (isFirst && other.kind != ICorporateActions.Kind.PAYMENT && _shareName(a, other)) return true;
        }
        return false;
    }

    function _shareName(ICorporateActions.Action memory a, ICorporateActions.Action memory b) private pure returns (bool) {
        return a.symbol == b.symbol || a.symbol == b.successor || a.successor == b.symbol
            || (a.successor != 0 && a.successor == b.successor);
    }

    function _withdraw(uint256 i, bytes32 digest) private {
        vm.prank(holderOf(0));
        actions.withdraw(digest);
        _effectiveAt[digest] = 0;
        _drop(i);
    }

    function _drop(uint256 i) private {
        _proposed[i] = _proposed[_proposed.length - 1];
        _proposed.pop();
    }

    function _actionOf(bytes32 symbol, uint256 kind, uint256 ratio)
        private
        view
        returns (ICorporateActions.Action memory a)
    {
        a.symbol = symbol;
        // In steps of three days, so that some have the same moment.
        a.recordAt = uint64((currentTime - ratio % 10 days + kind % 8 days) / 3 days * 3 days);
        kind %= 16;
        a.kind = ICorporateActions.Kind(kind < 8 ? kind % 2 : 2 + kind % 4);
        if (a.kind <= ICorporateActions.Kind.STOCK_DIVIDEND) {
            (a.numerator, a.denominator) = (uint64(1 + ratio % 5), uint64(1 + ratio / 5 % 5));
            if (a.numerator == a.denominator) a.denominator = 1_000;
        }
        if (a.kind == ICorporateActions.Kind.SYMBOL_CHANGE) a.successor = ratio % 3 == 0 ? symbolOf(ratio) : bytes32("NEW");
        if (a.kind == ICorporateActions.Kind.PAYMENT) {
            a.denominator = 1;
            for (uint32 i = 0; i < enacted(); i++) {
                ICorporateActions.Action memory dividend = actions.list(i, i + 1)[0];
                if (dividend.kind == ICorporateActions.Kind.ENTITLEMENT && (!_isPaid[i] || ratio % 2 == 0)) {
                    (a.entitlement, a.symbol) = (i, dividend.symbol);
                }
            }
        }
    }
}
