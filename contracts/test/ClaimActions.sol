// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {OrderActions} from "./OrderActions.sol";
import {vm} from "./Platform.sol";

/// @title Claims of payments that a wallet could not receive: right ones, and some with one fault.
abstract contract ClaimActions is OrderActions {
    function claim(uint256 who, uint256 which, uint256 to) external atCurrentTime {
        (address wallet, bytes32 asset) = _claimant(who, which);
        uint256 amount = claims[wallet][asset];
        address approved = _claimRecipient[wallet][asset];
        address recipient = to % 4 == 0 ? wallet : to % 4 == 1 ? walletOf(to / 4) : approved;
        bytes memory call = abi.encodeCall(escrow.claim, (asset, recipient));
        bool isAllowed = recipient == wallet || (recipient == approved && kyc[recipient]);
        if (amount == 0 || !isAllowed) return _mustFail(wallet, address(escrow), call);
        uint256 before = _balance(asset, recipient);
        vm.prank(wallet);
        escrow.claim(asset, recipient);
        claims[wallet][asset] = 0;
        _must(_balance(asset, recipient) == before + amount, "a claim paid another amount");
    }

    function approveClaimRecipient(uint256 who, uint256 which, uint256 to) external atCurrentTime {
        (address wallet, bytes32 asset) = _claimant(who, which);
        vm.prank(holderOf(0));
        escrow.approveClaimRecipient(wallet, asset, walletOf(to));
        _claimRecipient[wallet][asset] = walletOf(to);
    }

    /// @dev By chance alone, an approved recipient hardly ever loses its KYC while there is a claim.
    function claimToUncleared(uint256 who, uint256 which, uint256 to) external atCurrentTime {
        (address wallet, bytes32 asset) = _claimant(who, which);
        address recipient = walletOf(to);
        if (recipient == wallet || claims[wallet][asset] == 0) return;
        bool wasCleared = kyc[recipient];
        vm.prank(holderOf(0));
        escrow.approveClaimRecipient(wallet, asset, recipient);
        vm.prank(holderOf(0));
        token.setKyc(recipient, false);
        _claimRecipient[wallet][asset] = recipient;
        _mustFail(wallet, address(escrow), abi.encodeCall(escrow.claim, (asset, recipient)));
        vm.prank(holderOf(0));
        token.setKyc(recipient, wasCleared);
    }

    /// @dev A wallet that has a claim, and its asset; if there is none, any.
    function _claimant(uint256 who, uint256 which) private view returns (address wallet, bytes32 asset) {
        for (uint256 i = 0; i < 15; i++) {
            (wallet, asset) = (walletOf(who % 5 + i % 5), _assetAt(which % 3 + i / 5));
            if (claims[wallet][asset] > 0) return (wallet, asset);
        }
    }
}
