// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC3009} from "@openzeppelin/contracts/interfaces/draft-IERC3009.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";

import {ISignedOpenings} from "./interfaces/ISignedOpenings.sol";

/// @title See {ISignedOpenings}.
abstract contract SignedOpenings is ISignedOpenings, EIP712 {
    /// @dev `account`, `amount` and `validBefore` are members of what USDC has signed, beside the nonce.
    bytes32 private constant BUY_OPENING_TYPEHASH =
        keccak256("BuyOpening(bytes32 orderId,bytes32 commit,uint64 deadline)");
    bytes32 private constant REQUEST_OPENING_TYPEHASH = keccak256(
        "RequestOpening(address account,bytes32 orderId,bytes32 commit,uint64 deadline,uint64 validBefore)"
    );

    /// @inheritdoc ISignedOpenings
    function buyNonce(bytes32 orderId, bytes32 commit, uint64 deadline) public pure returns (bytes32) {
        return keccak256(abi.encode(BUY_OPENING_TYPEHASH, orderId, commit, deadline));
    }

    /// @inheritdoc ISignedOpenings
    function hashRequestOpening(RequestOpening calldata o) public view returns (bytes32) {
        return _hashTypedDataV4(
            keccak256(
                abi.encode(REQUEST_OPENING_TYPEHASH, o.account, o.orderId, o.commit, o.deadline, o.validBefore)
            )
        );
    }

    /// @dev Takes the signed USDC. USDC reverts unless the account signed exactly this buy, or if the nonce was used or
    /// cancelled. The function returns nothing, so the deployment checks that USDC has EIP-3009.
    function _receiveSigned(IERC20 usdc_, BuyOpening calldata o, bytes calldata signature) internal {
        require(signature.length == 65, ECDSA.ECDSAInvalidSignatureLength(signature.length));
        (uint8 v, bytes32 r, bytes32 s) = ECDSA.parseCalldata(signature);
        IERC3009(address(usdc_)).receiveWithAuthorization(
            o.account,
            address(this),
            o.amount,
            0,
            o.validBefore,
            buyNonce(o.orderId, o.commit, o.deadline),
            v,
            r,
            s
        );
    }

    /// @dev Reverts unless the account signed exactly this request.
    function _requireSigned(RequestOpening calldata o, bytes calldata signature) internal view {
        address got = ECDSA.recoverCalldata(hashRequestOpening(o), signature);
        require(got == o.account, NotSignedByAccount(o.account, got));
    }

    function _requireCurrent(uint64 validBefore) internal view {
        require(block.timestamp < validBefore, OpeningExpired(validBefore, uint64(block.timestamp)));
    }
}
