// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IConfidentialLedger} from "../interfaces/IConfidentialLedger.sol";
import {ClaimActions} from "./ClaimActions.sol";
import {vm} from "./Platform.sol";

/// @title Moves of portfolios to new wallets: right ones, and some with one fault.
abstract contract MoveActions is ClaimActions {
    struct BookedMove {
        bytes32 orgId;
        address to;
        uint256 effectiveAt;
        bytes32 userPubKeyHash;
        bool hasBegun;
    }

    mapping(address from => BookedMove) private _moves;
    /// @dev Whether a part has moved and others have not.
    mapping(address from => mapping(address to => bool)) private _hasBegun;
    mapping(address from => address) private _lastTo;

    /// @notice The wallets that moves have been proposed to, beyond the five.
    address[] public newWallets;

    function newWalletCount() external view returns (uint256) {
        return newWallets.length;
    }

    /// @notice The new wallet of a wallet's move, zero if there is none, whether a part has moved to it, and when it takes effect.
    function moveOf(address from) external view returns (address to, bool hasBegun, uint256 effectiveAt) {
        return (_moves[from].to, _moves[from].hasBegun, _moves[from].effectiveAt);
    }

    /// @dev To a wallet without a portfolio, to the one of the last move, or now and then to one that may have one.
    function proposeMove(uint256 org, uint256 who, uint256 seed) public atCurrentTime returns (address from) {
        bytes32 orgId = orgOf(org);
        for (uint256 i = 0; i < 5 && (registry.orgOf(walletOf(who)) != orgId && seed % 8 != 0); i++) {
            who = who % 5 + 1;
        }
        address to;
        (from, to) = (walletOf(who), walletOf(seed));
        if (seed % 4 == 1 && _lastTo[from] != address(0)) {
            to = _lastTo[from];
        } else if (seed % 4 != 0) {
            to = address(uint160(uint256(keccak256(abi.encode("new wallet", newWallets.length)))));
            newWallets.push(to);
        }
        vm.prank(registry.adminOf(orgId));
        registry.proposeMove(from, to);
        _must(admitted[orgId], "a suspended institution proposed a move");
        _must(registry.orgOf(from) == orgId, "a move of another institution's member");
        _must(_moves[from].to == address(0), "two moves of a wallet");
        _moves[from] = BookedMove(orgId, to, 0, 0, _hasBegun[from][to]);
        _lastTo[from] = to;
    }

    function acceptMove(uint256 who) public atCurrentTime {
        address from = _pickMove(who);
        BookedMove storage move = _moves[from];
        bytes memory userPubKey = abi.encodePacked(who, bytes1(0));
        bytes memory call = abi.encodeCall(registry.acceptMove, (from, userPubKey));
        if (who % 8 == 0) return _mustFail(STRANGER, address(registry), call);
        // What has moved is sealed to the first key.
        if (move.hasBegun && move.userPubKeyHash != 0) return _mustFail(move.to, address(registry), call);
        vm.prank(move.to);
        registry.acceptMove(from, userPubKey);
        move.userPubKeyHash = keccak256(userPubKey);
    }

    function approveMove(uint256 who) public atCurrentTime {
        address from = _pickMove(who);
        BookedMove storage move = _moves[from];
        bytes memory call = abi.encodeCall(registry.approveMove, (from, move.to));
        if (who % 8 == 0) return _mustFail(registry.adminOf(move.orgId), address(registry), call);
        vm.prank(holderOf(0));
        registry.approveMove(from, move.to);
        _must(move.userPubKeyHash != 0, "a move that the new wallet has not accepted");
        _must(move.effectiveAt == 0, "a move was approved twice");
        _must(admitted[move.orgId], "a suspended institution's move was approved");
        move.effectiveAt = currentTime + 7 days;
    }

    /// @dev The lost wallet, the admin and the owner can always end a move, and nobody else.
    function withdrawMove(uint256 who, uint256 by) external atCurrentTime {
        address from = _pickMove(who);
        bytes memory call = abi.encodeCall(registry.withdrawMove, (from));
        by %= 8;
        (address to, address admin) = (_moves[from].to, registry.adminOf(_moves[from].orgId));
        bool isOther = by == 3 && to != admin && to != holderOf(0);
        if (by > 2) return _mustFail(isOther ? to : STRANGER, address(registry), call);
        address party = by == 0 ? from : by == 1 ? admin : holderOf(0);
        vm.prank(party);
        (bool ok,) = address(registry).call(call);
        _must(ok, "a move could not be ended");
        delete _moves[from];
    }

    /// @dev The wallet has entered an institution: its key is not lost.
    function _entered(bytes32 orgId, address wallet) internal {
        _setMember(orgId, wallet);
        delete _moves[wallet];
    }

    /// @dev All steps in a row, as people take them.
    function moveOrderly(uint256 org, uint256 who, uint256 seed, uint256 parts) external {
        uint256 index = _indexOf(proposeMove(org, who % 1e9, seed));
        acceptMove(8 * 5 * 5 + 25 + index);
        approveMove(8 * 5 * 5 + 25 + index);
        currentTime += 7 days;
        vm.warp(currentTime);
        carryOutMove(index, parts, parts % 8 == 0 ? 9 : 15);
    }

    /// @param wrong what the authorization gets wrong: 1 to 8 must fail, and 9, where the new wallet has joined another institution
    function carryOutMove(uint256 who, uint256 parts, uint256 wrong) public atCurrentTime {
        address from = _pickMove(who);
        BookedMove storage move = _moves[from];
        IConfidentialLedger.PortfolioMove memory a;
        (a.from, a.to, a.partsLeft) = (from, move.to, uint64(parts % 3));
        (a.effectiveAt, a.userPubKeyHash) = (uint64(move.effectiveAt), move.userPubKeyHash);
        (a.version, a.previous, a.actions) = (versions[from] + 1, histories[from], listHash());
        (a.toVersion, a.toPrevious) = (versions[a.to] + 1, histories[a.to]);
        (a.enclaveBlob, a.userBlob) = _blobs(parts);
        (a.toEnclaveBlob, a.toUserBlob) = _blobs(wrong);
        wrong %= 16;
        if (wrong == 1) a.version += 1;
        if (wrong == 2) a.previous ^= bytes32(uint256(1));
        if (wrong == 3) a.toPrevious ^= bytes32(uint256(1));
        if (wrong == 6) a.actions = ~a.actions;
        if (wrong == 7) a.effectiveAt -= 1;
        if (wrong == 8) a.userPubKeyHash = ~a.userPubKeyHash;
        if (wrong == 4) a.to = walletOf(who + 1) == a.to ? STRANGER : walletOf(who + 1);
        bytes memory signature =
            wrong == 5 ? _sign(OTHER_KEY, ledger.hashPortfolioMove(a)) : _enclaveSign(ledger.hashPortfolioMove(a));
        bytes memory call = abi.encodeCall(ledger.movePortfolio, (a, signature));
        bool isOntoAnother = !move.hasBegun && versions[move.to] > 0;
        if (wrong == 9 && move.effectiveAt != 0) _joinAnother(move.to, move.orgId);
        if (isOntoAnother || (wrong > 0 && wrong < 10)) return _mustFail(address(this), address(ledger), call);
        if (!kyc[a.to]) {
            _mustFail(address(this), address(ledger), call);
            // A fault that succeeded is told: what follows would revert, and take it back.
            if (wrong % 3 != 0 || bytes(violation).length > 0) return;
            _clear(a.to);
        }
        _authorized(address(ledger), call);
        _must(move.effectiveAt != 0 && currentTime >= move.effectiveAt, "a move before its time");
        _must(admitted[move.orgId], "a suspended institution's move");
        _must(_isInNoOther(from, move.orgId) && _isInNoOther(a.to, move.orgId), "a move across institutions");
        _must(kyc[a.to], "a move to a wallet without KYC");
        _must(escrow.openOrdersBy(from) == 0, "a move with open orders");
        // Of both alone: the invariants compare every other wallet's portfolio too.
        _wrote(from, a.version, a.previous, a.enclaveBlob, a.userBlob);
        _wrote(a.to, a.toVersion, a.toPrevious, a.toEnclaveBlob, a.toUserBlob);
        _hasBegun[from][a.to] = a.partsLeft > 0;
        if (a.partsLeft == 0) delete _moves[from];
        else move.hasBegun = true;
    }

    /// @dev Reverts if the wallet is new or a member somewhere, or no other institution is admitted.
    function _joinAnother(address wallet, bytes32 orgId) private {
        bool isKnown;
        for (uint256 i = 0; i < 5; i++) {
            isKnown = isKnown || walletOf(i) == wallet;
        }
        require(isKnown, "a new wallet");
        for (uint256 i = 0; i < 3; i++) {
            bytes32 other = orgOf(i);
            if (other == orgId || !admitted[other]) continue;
            _clear(wallet);
            vm.prank(registry.adminOf(other));
            registry.setMember(wallet, true);
            vm.prank(wallet);
            registry.join(other);
            _entered(other, wallet);
            return;
        }
        revert("no other institution");
    }

    function _clear(address wallet) private {
        vm.prank(holderOf(0));
        token.setKyc(wallet, true);
        kyc[wallet] = true;
    }

    function _isInNoOther(address wallet, bytes32 orgId) private view returns (bool) {
        bytes32 current = registry.orgOf(wallet);
        return current == 0 || current == orgId;
    }

    /// @dev Reverts if there is none.
    function _pickMove(uint256 who) private view returns (address from) {
        for (uint256 i = 0; i < 5; i++) {
            from = walletOf(who % 5 + i);
            if (_moves[from].to != address(0)) return from;
        }
        revert("no move");
    }

    function _indexOf(address wallet) private pure returns (uint256 i) {
        while (walletOf(i) != wallet) i++;
    }
}
