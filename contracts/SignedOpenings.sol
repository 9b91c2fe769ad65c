// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC3009} from "@openzeppelin/contracts/interfaces/draft-IERC3009.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";

/**
 * @title Base of the escrow: openings that the account signs and that anyone may send.
 *
 * @dev A signature fixes everything about the order, so the sender decides only whether and when it is opened, and gets
 * nothing for it. An opening needs no nonce of its own: an order's id is never used twice.
 *
 * - A buy is opened by a signature for USDC (`ReceiveWithAuthorization`, EIP-3009). USDC checks the account, the amount and
 *   `validBefore`. Its domain binds the chain, and the recipient binds this escrow: only the recipient can use the signature.
 *   The nonce binds order, ciphertext and deadline ({buyNonce}).
 * - A request is opened by a signature in this contract's own domain ({hashRequestOpening}).
 */
abstract contract SignedOpenings is EIP712 {
    /// @notice A buy that `account` has signed. It can be opened until just before `validBefore`, in Unix seconds.
    struct BuyOpening {
        address account;
        bytes32 orderId;
        bytes32 commit;
        uint256 amount;
        uint64 deadline;
        uint64 validBefore;
    }

    /// @notice A request that `account` has signed. It can be opened until just before `validBefore`, in Unix seconds.
    struct RequestOpening {
        address account;
        bytes32 orderId;
        bytes32 commit;
        uint64 deadline;
        uint64 validBefore;
    }

    /// @dev `account`, `amount` and `validBefore` are members of what USDC has signed, beside the nonce.
    bytes32 private constant BUY_OPENING_TYPEHASH =
        keccak256("BuyOpening(bytes32 orderId,bytes32 commit,uint64 deadline)");
    bytes32 private constant REQUEST_OPENING_TYPEHASH = keccak256(
        "RequestOpening(address account,bytes32 orderId,bytes32 commit,uint64 deadline,uint64 validBefore)"
    );

    /// @notice The block's time `currentTime` is not before `validBefore`.
    error OpeningExpired(uint64 validBefore, uint64 currentTime);

    /// @notice The signature of a request recovers to `got`, not to its account `expected`.
    error NotSignedByAccount(address expected, address got);

    /// @notice The nonce of the `ReceiveWithAuthorization` that opens this buy.
    function buyNonce(bytes32 orderId, bytes32 commit, uint64 deadline) public pure returns (bytes32) {
        return keccak256(abi.encode(BUY_OPENING_TYPEHASH, orderId, commit, deadline));
    }

    /// @notice The EIP-712 digest that the account signs for {OrderEscrow-openRequestFor}.
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
