// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IAccountMoves} from "../interfaces/IAccountMoves.sol";
import {IAuthority} from "../interfaces/IAuthority.sol";
import {IEquityShares} from "../interfaces/IEquityShares.sol";
import {IPlatformPool} from "../interfaces/IPlatformPool.sol";
import {ISweepable} from "../interfaces/ISweepable.sol";
import {vm} from "./Platform.sol";
import {MoveActions} from "./MoveActions.sol";
import {ShareActions} from "./ShareActions.sol";

/// @title The actions of everyone who may act on the platform, and of strangers, as forge draws them.
contract Handler is ShareActions, MoveActions {
    constructor() {
        vm.warp(currentTime);
        roles[0].current = platform.OWNER();
        roles[1].current = platform.GUARDIAN();
        rotate(2, 6);
        for (uint256 i = 0; i < 5; i++) {
            setKyc(i, 1);
        }
        for (uint256 i = 0; i < 2; i++) {
            setListed(i, 1);
            mint(i, 5e11, 0);
            found(i, i);
            admit(i, 1);
            invite(i, 2 + i, true);
            join(2 + i, i);
        }
        fund(0, 50_000_000_000);
        for (uint256 i = 0; i < 4; i++) {
            openRequest(i, 1 days, false);
            settle(i, 2 + i % 2, 1e9, 0);
        }
    }

    // ---- time ----

    function pass(uint256 time) external {
        currentTime += isPaused() || time % 4 == 0 ? time % 12 days : time % 6 hours;
    }

    // ---- the pool ----

    function mint(uint256 which, uint256 amount, uint256 wrong) public atCurrentTime {
        bytes32 symbol = symbolOf(which);
        IPlatformPool.BatchMint memory a =
            IPlatformPool.BatchMint(symbol, 1 + amount % 1e12, minted[symbol], _batches[symbol] + 1, 0, listHash());
        wrong %= 12;
        if (wrong == 1) a.batch += 1;
        if (wrong == 2) a.expectedSupply += 1;
        if (wrong == 3) a.amount = 0;
        if (wrong == 4) a.symbol = USDC;
        if (wrong == 6) a.actions = _lists[amount % _lists.length];
        bytes memory call = abi.encodeCall(pool.mintBatch, (a, _enclaveSign(pool.hashBatchMint(a))));
        if ((wrong > 0 && wrong < 5) || a.actions != listHash()) return _mustFail(address(this), address(pool), call);
        if (wrong == 5) {
            return _mustFail(
                address(this),
                address(pool),
                abi.encodeCall(pool.mintBatch, (a, _sign(OTHER_KEY, pool.hashBatchMint(a))))
            );
        }
        _authorized(address(pool), call);
        _batches[symbol]++;
        minted[symbol] += a.amount;
        poolHolds[symbol] += a.amount;
    }

    function burn(uint256 which, uint256 amount, uint256 wrong) external atCurrentTime {
        bytes32 symbol = symbolOf(which);
        IPlatformPool.BatchBurn memory a =
            IPlatformPool.BatchBurn(symbol, 1 + amount % poolHolds[symbol], minted[symbol], _batches[symbol] + 1, 0, listHash());
        wrong %= 12;
        if (wrong == 1) a.batch += 1;
        if (wrong == 2) a.expectedSupply += 1;
        if (wrong == 3) a.amount = poolHolds[symbol] + 1;
        if (wrong == 5) a.actions = _lists[amount % _lists.length];
        bytes memory call = abi.encodeCall(pool.burnBatch, (a, _enclaveSign(pool.hashBatchBurn(a))));
        if ((wrong > 0 && wrong < 4) || a.actions != listHash()) return _mustFail(address(this), address(pool), call);
        if (wrong == 4) {
            return _mustFail(
                address(this),
                address(pool),
                abi.encodeCall(pool.burnBatch, (a, _sign(OTHER_KEY, pool.hashBatchBurn(a))))
            );
        }
        _authorized(address(pool), call);
        _batches[symbol]++;
        minted[symbol] -= a.amount;
        poolHolds[symbol] -= a.amount;
    }

    function fund(uint256 who, uint256 amount) public atCurrentTime {
        amount = 1 + amount % 100_000_000_000;
        usdc.mint(walletOf(who), amount);
        vm.prank(walletOf(who));
        usdc.approve(address(pool), amount);
        vm.prank(walletOf(who));
        pool.fund(amount);
        poolHolds[USDC] += amount;
    }

    function moveTreasury(uint256 amount) external atCurrentTime {
        amount = 1 + amount % poolHolds[USDC];
        vm.prank(holderOf(0));
        pool.transferTreasury(amount);
        poolHolds[USDC] -= amount;
        treasury += amount;
    }

    function gift(uint256 which, uint256 amount) external atCurrentTime {
        ISweepable target = _sweepable(which);
        amount %= 1_000_000_000;
        usdc.mint(address(target), amount);
        gifts[address(target)] += amount;
    }

    function sweep(uint256 which) external atCurrentTime {
        uint256 i = 0;
        while (i < 5 && gifts[address(_sweepable(which % 5 + i))] == 0) i++;
        ISweepable target = _sweepable(which % 5 + i);
        target.sweepUsdc();
        poolHolds[USDC] += gifts[address(target)];
        gifts[address(target)] = 0;
    }

    // ---- shares and flags ----

    function transfer(uint256 which, uint256 from, uint256 to, uint256 amount, bool byAllowance)
        external
        atCurrentTime
    {
        bytes32 symbol = symbolOf(which);
        IEquityShares shares = token.sharesOf(symbol);
        address recipient = to % 11 == 0 ? address(pool) : to % 13 == 0 ? address(escrow) : walletOf(to);
        from = _shareholder(shares, from);
        address sender = walletOf(from);
        amount = 1 + amount % shares.balanceOf(sender);
        if (byAllowance) {
            vm.prank(sender);
            shares.approve(walletOf(from + 1), amount);
            vm.prank(walletOf(from + 1));
            shares.transferFrom(sender, recipient, amount);
            _must(kyc[walletOf(from + 1)] && !frozen(symbol, walletOf(from + 1)), "an uncleared spender");
        } else {
            vm.prank(sender);
            shares.transfer(recipient, amount);
        }
        _must(recipient != address(escrow), "shares were sent to the escrow");
        _must(kyc[sender] && !frozen(symbol, sender), "an uncleared sender");
        if (recipient == address(pool)) poolHolds[symbol] += amount;
        else _must(kyc[recipient] && !frozen(symbol, recipient) && listed[_lastName(symbol)], "an uncleared recipient");
    }

    function setKyc(uint256 who, uint256 seed) public atCurrentTime {
        bool on = isUsual(seed);
        vm.prank(holderOf(0));
        token.setKyc(walletOf(who), on);
        kyc[walletOf(who)] = on;
    }

    function setFrozen(uint256 who, uint256 which, uint256 seed) external atCurrentTime {
        bool on = !isUsual(seed);
        // One that is frozen, if there is one.
        for (uint256 i = 0; i < 5 && !on && !frozen(nameOf(which), walletOf(who)); i++) {
            who = who % 5 + 1;
        }
        vm.prank(holderOf(0));
        token.setFrozen(nameOf(which), walletOf(who), on);
        _freeze(nameOf(which), walletOf(who), on);
    }

    function setListed(uint256 which, uint256 seed) public atCurrentTime {
        bool on = isUsual(seed);
        vm.prank(holderOf(0));
        token.setListed(nameOf(which), on);
        _must(!on || !retired[nameOf(which)], "a symbol that has changed was listed");
        listed[nameOf(which)] = on;
    }

    function setBlacklisted(uint256 who, uint256 seed) external {
        usdc.setBlacklisted(walletOf(who), seed % 2 == 0);
    }

    // ---- institutions ----

    function found(uint256 who, uint256 org) public atCurrentTime {
        vm.prank(walletOf(who));
        registry.registerInstitution(orgOf(org));
    }

    function admit(uint256 org, uint256 seed) public atCurrentTime {
        bytes32 orgId = orgOf(org);
        address admin = registry.adminOf(orgId);
        // A first admission names one of the founders.
        for (uint256 i = 0; i < 5 && admin == address(0); i++) {
            if (registry.foundingOf(walletOf(seed + i)) == orgId) admin = walletOf(seed + i);
        }
        bool isFirst = registry.adminOf(orgId) == address(0);
        vm.prank(holderOf(0));
        registry.setAdmitted(orgId, admin, isUsual(seed));
        if (isFirst) _entered(orgId, admin);
        admitted[orgId] = isUsual(seed);
    }

    function invite(uint256 org, uint256 who, bool on) public atCurrentTime {
        for (uint256 i = 0; i < 5 && on && registry.orgOf(walletOf(who)) != 0; i++) {
            who = who % 5 + 1;
        }
        address wallet = walletOf(who);
        address admin = registry.adminOf(orgOf(org));
        vm.prank(admin);
        registry.setMember(wallet, on);
        if (!on && wallet != admin && memberOf(wallet) == orgOf(org)) _setMember(0, wallet);
    }

    function join(uint256 who, uint256 org) public atCurrentTime {
        for (uint256 i = 0; i < 5; i++) {
            if (registry.isInvited(orgOf(org), walletOf(who % 5 + i))) {
                who = who % 5 + i;
                break;
            }
        }
        bool isInvited = registry.isInvited(orgOf(org), walletOf(who));
        vm.prank(walletOf(who));
        registry.join(orgOf(org));
        _must(isInvited, "a wallet joined uninvited");
        _entered(orgOf(org), walletOf(who));
    }

    function leaveInstitution(uint256 who) external atCurrentTime {
        address wallet = walletOf(who);
        bytes32 orgId = memberOf(wallet);
        vm.prank(wallet);
        registry.leaveInstitution();
        _must(orgId != 0 && registry.adminOf(orgId) != wallet, "an admin left, or a wallet in no institution");
        _must(_leavesAt[wallet] == 0, "a leaving was put off");
        _leavesAt[wallet] = currentTime + platform.LEAVE_DELAY();
    }

    function proposeAdmin(uint256 org, uint256 who) external atCurrentTime {
        address wallet = walletOf(who);
        vm.prank(registry.adminOf(orgOf(org)));
        registry.transferAdmin(wallet);
        bool stays = memberOf(wallet) == orgOf(org) && _leavesAt[wallet] == 0;
        _must(memberOf(wallet) == 0 || stays, "an admin was proposed who leaves, or is in another institution");
    }

    function acceptAdmin(uint256 org, uint256 who) external atCurrentTime {
        address pending = registry.pendingAdminOf(orgOf(org));
        // The proposed one, if there is one.
        for (uint256 i = 0; i < 5 && pending != address(0) && walletOf(who) != pending; i++) {
            who = who % 5 + 1;
        }
        bool isMember = memberOf(walletOf(who)) == orgOf(org);
        vm.prank(walletOf(who));
        registry.acceptAdmin(orgOf(org));
        _must(pending == walletOf(who), "an admin whom nobody proposed");
        if (!isMember) _entered(orgOf(org), walletOf(who));
        _must(_leavesAt[walletOf(who)] == 0, "a wallet that leaves became admin");
    }

    // ---- roles and pauses ----

    function rotate(uint256 role, uint256 to) public atCurrentTime {
        role %= 3;
        address next = role == 2
            ? vm.addr(to % 2 == 0 ? platform.ENCLAVE_KEY() : OTHER_KEY + 1)
            : address(uint160(0x1000 + role * 16 + to % 2));
        address from = holderOf(role);
        vm.prank(holderOf(0));
        if (role == 0) authority.rotateOwner(next);
        else if (role == 1) authority.rotateGuardian(next);
        else _rotateSigner(next, bytes32(to % 3));
        roles[role] = Role(from, next, currentTime + (from == address(0) ? 0 : platform.ROTATION_DELAY()));
        // A leaked key can be stopped until its successor is in force.
        if (role == 2 && to % 8 == 0) _mustPause();
    }

    /// @param measurement of three, of which zero is none
    function _rotateSigner(address next, bytes32 measurement) private {
        bytes32 config = measurement == 0 ? bytes32(0) : keccak256(abi.encode(measurement));
        authority.rotateSigner(next, measurement, config);
        _must(!revoked[measurement], "a signer of a revoked program");
        if (currentTime >= roles[2].effectiveAt) program = nextProgram;
        nextProgram = measurement;
    }

    function revoke(uint256 which) external atCurrentTime {
        if (isUsual(which)) return;
        bytes32 measurement = bytes32(1 + which % 2);
        vm.prank(holderOf(1));
        authority.revokeMeasurement(measurement);
        revoked[measurement] = true;
    }

    function withdrawRotation(uint256 role) external atCurrentTime {
        role %= 3;
        vm.prank(holderOf(0));
        authority.withdrawRotation(IAuthority.Role(role));
        roles[role] = Role(holderOf(role), address(0), 0);
        if (role == 2) nextProgram = program;
    }

    function pause(uint256 seed) external atCurrentTime {
        if (isUsual(seed)) return;
        bool rotatesSigner = currentTime < roles[2].effectiveAt;
        bool isTooEarly = pausedUntil != 0 && currentTime < pausedUntil + 30 days && !rotatesSigner;
        vm.prank(holderOf(1));
        authority.pause();
        _must(!isTooEarly, "a pause before its interval");
        pausedUntil = currentTime + platform.MAX_PAUSE();
    }

    function _mustPause() private {
        vm.prank(holderOf(1));
        (bool ok,) = address(authority).call(abi.encodeCall(authority.pause, ()));
        _must(ok, "the guardian could not pause");
        pausedUntil = currentTime + platform.MAX_PAUSE();
    }

    /// @dev A lifted pause costs no interval.
    function liftPause(uint256 seed) external atCurrentTime {
        vm.prank(holderOf(0));
        authority.liftPause();
        pausedUntil = 0;
        if (!isUsual(seed)) _mustPause();
    }

    // ---- what must never succeed ----

    function replay(uint256 which) external atCurrentTime {
        Authorization memory a = _used[which % _used.length];
        _mustFail(address(this), a.target, a.call);
    }

    /// @dev Every call that a role guards, by an address without any.
    function trespass(uint256 which, uint256 who) external atCurrentTime {
        bytes32 orgId = orgOf(who);
        bytes32 symbol = symbolOf(who);
        address to = STRANGER;
        Authorization[21] memory calls = [
            Authorization(address(authority), abi.encodeCall(authority.rotateOwner, (to))),
            Authorization(address(authority), abi.encodeCall(authority.rotateGuardian, (to))),
            Authorization(address(authority), abi.encodeCall(authority.rotateSigner, (to, 0, 0))),
            Authorization(address(authority), abi.encodeCall(authority.withdrawRotation, (IAuthority.Role.SIGNER))),
            Authorization(address(authority), abi.encodeCall(authority.pause, ())),
            Authorization(address(authority), abi.encodeCall(authority.liftPause, ())),
            Authorization(
                address(registry),
                abi.encodeCall(registry.setAdmitted, (orgId, registry.adminOf(orgId), !admitted[orgId]))
            ),
            Authorization(address(registry), abi.encodeCall(registry.setMember, (walletOf(who), false))),
            Authorization(address(registry), abi.encodeCall(registry.transferAdmin, (to))),
            Authorization(address(registry), abi.encodeCall(registry.acceptAdmin, (orgId))),
            Authorization(address(registry), abi.encodeCall(registry.join, (orgId))),
            Authorization(address(token), abi.encodeCall(token.setKyc, (to, true))),
            Authorization(address(token), abi.encodeCall(token.setListed, (symbol, !listed[symbol]))),
            Authorization(address(token), abi.encodeCall(token.setFrozen, (symbol, walletOf(who), true))),
            Authorization(address(token), abi.encodeCall(token.retire, (symbol))),
            Authorization(address(token), abi.encodeCall(token.mint, (symbol, 1))),
            Authorization(address(token), abi.encodeCall(token.burn, (symbol, 1))),
            Authorization(address(token.sharesOf(symbol)), abi.encodeCall(IEquityShares.mint, (1))),
            Authorization(address(pool), abi.encodeCall(pool.payout, (to, USDC, 1))),
            Authorization(address(pool), abi.encodeCall(pool.transferTreasury, (1))),
            Authorization(
                address(ledger),
                abi.encodeCall(
                    ledger.writePortfolio,
                    (
                        keccak256(abi.encodePacked(walletOf(who))),
                        versions[walletOf(who)] + 1,
                        histories[walletOf(who)],
                        listHash(),
                        hex"01",
                        hex"01"
                    )
                )
            )
        ];
        Authorization memory a = calls[which % calls.length];
        _mustFail(STRANGER, a.target, a.call);
        _mustFail(STRANGER, address(escrow), abi.encodeCall(escrow.approveClaimRecipient, (walletOf(who), USDC, to)));
        _mustFail(STRANGER, address(token.sharesOf(symbol)), abi.encodeCall(IEquityShares.burn, (1)));
        _mustFail(STRANGER, address(authority), abi.encodeCall(authority.revokeMeasurement, (bytes32(uint256(9)))));
        _mustFail(STRANGER, address(registry), abi.encodeCall(registry.proposeMove, (walletOf(who), to)));
        IAccountMoves.Move memory move = registry.moveOf(walletOf(who));
        for (uint256 i = 0; i < 2; i++) {
            bytes32 key = keccak256(move.userPubKey);
            _mustFail(
                STRANGER,
                address(registry),
                abi.encodeCall(registry.takeMove, (walletOf(who), move.to, move.effectiveAt, key, i == 0, true))
            );
        }
    }
}
