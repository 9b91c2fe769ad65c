// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

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
interface ISignedOpenings {
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

    /// @notice The block's time `currentTime` is not before `validBefore`.
    error OpeningExpired(uint64 validBefore, uint64 currentTime);

    /// @notice The signature of a request recovers to `got`, not to its account `expected`.
    error NotSignedByAccount(address expected, address got);

    /// @notice The nonce of the `ReceiveWithAuthorization` that opens this buy.
    function buyNonce(bytes32 orderId, bytes32 commit, uint64 deadline) external pure returns (bytes32);

    /// @notice The EIP-712 digest that the account signs for {IOrderEscrow-openRequestFor}.
    function hashRequestOpening(RequestOpening calldata o) external view returns (bytes32);
}
