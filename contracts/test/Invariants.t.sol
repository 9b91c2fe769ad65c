// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IAccountMoves} from "../interfaces/IAccountMoves.sol";
import {IAuthority} from "../interfaces/IAuthority.sol";
import {ICorporateActions} from "../interfaces/ICorporateActions.sol";
import {IEquityToken} from "../interfaces/IEquityToken.sol";
import {IOrderEscrow} from "../interfaces/IOrderEscrow.sol";
import {Handler} from "./Handler.sol";
import {Platform, vm} from "./Platform.sol";

/// @title What holds after any actions of anyone, stated from the product's text.
contract InvariantsTest {
    uint256 private constant WALLETS = 5;

    Handler private handler;
    Platform private platform;

    function setUp() public {
        handler = new Handler();
        platform = handler.platform();
    }

    function targetContracts() public view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(handler);
    }

    /// @dev After each action: all that the chain shows is what the books say.
    function invariant_books() public {
        vm.warp(handler.currentTime());
        require(bytes(handler.violation()).length == 0, handler.violation());
        _money(handler.USDC());
        for (uint256 i = 0; i < 2; i++) {
            _money(handler.symbolOf(i));
        }
        _supply();
        _treasury();
        _orders();
        _portfolios();
        _actions();
        _institutions();
        _flags();
        _roles();
    }

    /// @dev At the end of a run: whatever owner, guardian and enclave have done, every open order can be reclaimed, and every claim
    /// paid, once its account can receive it.
    function afterInvariant() public {
        IOrderEscrow escrow = platform.escrow();
        for (uint256 i = 0; i < handler.orders(); i++) {
            bytes32 orderId = handler.orderIds(i);
            (address account, bytes32 asset, uint256 amount,,, uint64 deadline, IOrderEscrow.State state,) =
                handler.booked(orderId);
            if (state != IOrderEscrow.State.OPEN) continue;
            uint256 before = _worth(account, asset, amount);
            vm.warp(deadline + platform.authority().RECLAIM_DELAY());
            vm.prank(account);
            escrow.reclaim(orderId);
            require(_worth(account, asset, amount) == before + amount, "a reclaimed order paid another amount");
        }
        IEquityToken token = platform.token();
        address owner = platform.authority().owner();
        for (uint256 i = 0; i < WALLETS; i++) {
            address wallet = handler.walletOf(i);
            platform.usdc().setBlacklisted(wallet, false);
            vm.prank(owner);
            token.setKyc(wallet, true);
            _claim(wallet, handler.USDC());
            for (uint256 j = 0; j < 2; j++) {
                bytes32 symbol = handler.symbolOf(j);
                vm.prank(owner);
                token.setFrozen(symbol, wallet, false);
                _claim(wallet, symbol);
            }
        }
    }

    function _claim(address wallet, bytes32 asset) private {
        IOrderEscrow escrow = platform.escrow();
        uint256 owed = escrow.claims(wallet, asset);
        if (owed == 0) return;
        uint256 before = _balance(asset, wallet);
        vm.prank(wallet);
        escrow.claim(asset, wallet);
        require(_balance(asset, wallet) == before + owed, "a claim paid another amount");
    }

    /// @dev What an account has of an asset, in its wallet or as a claim.
    function _worth(address account, bytes32 asset, uint256 amount) private view returns (uint256) {
        return amount == 0 ? 0 : _balance(asset, account) + platform.escrow().claims(account, asset);
    }

    /// @dev Escrow and pool hold exactly what they owe, and what was sent to the escrow by mistake.
    function _money(bytes32 asset) private view {
        IOrderEscrow escrow = platform.escrow();
        bool isUsdc = asset == handler.USDC();
        uint256 open = 0;
        uint256 claims = 0;
        for (uint256 i = 0; i < handler.orders(); i++) {
            (, bytes32 orderAsset, uint256 amount,,,, IOrderEscrow.State state,) = handler.booked(handler.orderIds(i));
            if (state == IOrderEscrow.State.OPEN && orderAsset == asset) open += amount;
        }
        for (uint256 i = 0; i < WALLETS; i++) {
            uint256 owed = handler.claims(handler.walletOf(i), asset);
            require(escrow.claims(handler.walletOf(i), asset) == owed, "a claim");
            claims += owed;
        }
        uint256 claimed = escrow.claimed(asset);
        require(isUsdc ? claimed == claims : claimed >= claims, "the sum of claims");
        if (isUsdc) require(escrow.escrowed() == open, "the sum of open orders");
        uint256 beyond = isUsdc ? handler.gifts(address(escrow)) : handler.remainders(asset);
        require(_balance(asset, address(escrow)) == open + claims + beyond, "what the escrow holds");
        require(_balance(asset, address(platform.pool())) == handler.poolHolds(asset), "what the pool holds");
    }

    function _supply() private view {
        for (uint256 i = 0; i < 2; i++) {
            bytes32 symbol = handler.symbolOf(i);
            uint256 held = _balance(symbol, address(platform.pool())) + _balance(symbol, address(platform.escrow()));
            for (uint256 j = 0; j < WALLETS; j++) {
                held += _balance(symbol, handler.walletOf(j));
            }
            require(platform.token().totalSupply(symbol) == handler.minted(symbol), "the supply of a symbol");
            require(held <= handler.minted(symbol), "the holdings of a symbol");
        }
    }

    function _treasury() private view {
        require(platform.usdc().balanceOf(platform.BROKER()) == handler.treasury(), "what the treasury has moved");
    }

    function _orders() private view {
        IOrderEscrow escrow = platform.escrow();
        uint256 open = 0;
        uint256[5] memory byWallet;
        uint256[4] memory byOrg;
        for (uint256 i = 0; i < handler.orders(); i++) {
            bytes32 orderId = handler.orderIds(i);
            (
                address account,
                bytes32 asset,
                uint256 amount,
                bytes32 commit,
                bytes32 orgId,,
                IOrderEscrow.State state,
                uint256 ends
            ) = handler.booked(orderId);
            require(ends <= 1, "an order ended twice");
            bool isOpen = state == IOrderEscrow.State.OPEN;
            (,,,,, IOrderEscrow.State now_,, uint256 shares) = escrow.orders(orderId);
            require(now_ == state, "an order's state");
            require(shares == (asset == handler.USDC() ? 0 : amount), "the shares of an order");
            (,,,,, now_,,) = escrow.orders(orderId ^ bytes32(uint256(1)));
            require(now_ == IOrderEscrow.State.NONE, "an order by half of its id");
            if (isOpen) {
                escrow.requireOrder(orderId, account, asset, amount, commit, state);
                open++;
                for (uint256 j = 0; j < WALLETS; j++) {
                    if (handler.walletOf(j) == account) byWallet[j]++;
                }
                byOrg[_orgNumber(orgId)]++;
            }
        }
        require(escrow.openOrders() == open, "the number of open orders");
        for (uint256 j = 0; j < WALLETS; j++) {
            require(escrow.openOrdersBy(handler.walletOf(j)) == byWallet[j], "the open orders of a wallet");
            require(byWallet[j] <= 20, "too many open orders of a wallet");
        }
        for (uint256 i = 0; i < 3; i++) {
            require(escrow.openOrdersOf(handler.orgOf(i)) == byOrg[i], "the open orders of an institution");
        }
        require(escrow.openOrdersOf(0) == byOrg[3], "the open orders without an institution");
    }

    /// @dev 3 is no institution.
    function _orgNumber(bytes32 orgId) private view returns (uint256 i) {
        while (i < 3 && handler.orgOf(i) != orgId) i++;
    }

    function _portfolios() private view {
        uint256 moved = handler.newWalletCount();
        for (uint256 i = 0; i < WALLETS + moved; i++) {
            address wallet = i < WALLETS ? handler.walletOf(i) : handler.newWallets(i - WALLETS);
            (address to, bool hasBegun, uint256 effectiveAt) = handler.moveOf(wallet);
            IAccountMoves.Move memory move = platform.registry().moveOf(wallet);
            require(move.to == to && move.hasBegun == hasBegun && move.effectiveAt == effectiveAt, "a move");
            bytes32 id = keccak256(abi.encodePacked(wallet));
            require(platform.ledger().portfolioVersion(id) == handler.versions(wallet), "a portfolio's version");
            require(platform.ledger().portfolioHash(id) == handler.histories(wallet), "a portfolio's history");
            if (handler.versions(wallet) == 0) continue;
            bytes memory blobs = abi.encode(platform.ledger().enclaveBlob(id), platform.ledger().userBlob(id));
            require(keccak256(blobs) == handler.blobHashes(wallet), "a portfolio");
        }
    }

    function _actions() private view {
        ICorporateActions actions = platform.token().actions();
        require(actions.count() == handler.enacted(), "the number of corporate actions");
        require(actions.listHash() == handler.listHash(), "the list of corporate actions");
    }

    function _institutions() private view {
        for (uint256 j = 0; j < WALLETS; j++) {
            address wallet = handler.walletOf(j);
            require(platform.registry().orgOf(wallet) == handler.memberOf(wallet), "the institution of a wallet");
        }
        for (uint256 i = 0; i < 3; i++) {
            bytes32 orgId = handler.orgOf(i);
            require(platform.registry().isAdmitted(orgId) == handler.admitted(orgId), "an admission");
            require(platform.ledger().policyVersion(orgId) == handler.policyVersions(orgId), "a rulebook's version");
            if (handler.policyVersions(orgId) > 0) {
                require(keccak256(platform.ledger().policyBlob(orgId)) == handler.policyHashes(orgId), "a rulebook");
            }
            address admin = platform.registry().adminOf(orgId);
            if (admin == address(0)) continue;
            require(platform.registry().orgOf(admin) == orgId, "an admin who is no member");
            uint256 members = 0;
            for (uint256 j = 0; j < WALLETS; j++) {
                address wallet = handler.walletOf(j);
                bool isMember = platform.registry().orgOf(wallet) == orgId && wallet != admin;
                if (isMember && platform.registry().leavingAt(wallet) == 0) members++;
            }
            require(platform.registry().walletCount(orgId) == members, "the number of members");
        }
    }

    function _flags() private view {
        for (uint256 j = 0; j < WALLETS; j++) {
            address wallet = handler.walletOf(j);
            require(platform.token().isKyc(wallet) == handler.kyc(wallet), "a KYC flag");
            for (uint256 i = 0; i < 3; i++) {
                bytes32 symbol = handler.nameOf(i);
                require(platform.token().isFrozen(symbol, wallet) == handler.frozen(symbol, wallet), "a freeze");
                require(platform.token().isListed(symbol) == handler.listed(symbol), "a listing");
            }
        }
    }

    function _roles() private view {
        IAuthority authority = platform.authority();
        require(authority.owner() == handler.holderOf(0), "the owner");
        require(authority.guardian() == handler.holderOf(1), "the guardian");
        require(authority.enclaveSigner() == handler.holderOf(2), "the enclave's signer");
        bool isRotated = handler.currentTime() >= _effectiveAt();
        bytes32 program = isRotated ? handler.nextProgram() : handler.program();
        require(authority.signerProgram().measurement == program, "the signer's program");
        require(
            authority.pendingProgram().measurement == (isRotated ? bytes32(0) : handler.nextProgram()),
            "the next program"
        );
        require(authority.pausedUntil() == (handler.isPaused() ? handler.pausedUntil() : 0), "the pause");
    }

    function _effectiveAt() private view returns (uint256 effectiveAt) {
        (,, effectiveAt) = handler.roles(2);
    }

    function _balance(bytes32 asset, address account) private view returns (uint256) {
        return asset == handler.USDC() ? platform.usdc().balanceOf(account) : platform.token().balanceOf(account, asset);
    }
}
