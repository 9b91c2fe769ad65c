// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/**
 * @title A part of the registry: moves of a portfolio from a lost wallet to a new one of the same person.
 *
 * @dev The admin of the lost wallet's institution proposes a move. The new wallet accepts it, with the public key to which its
 * portfolio is to be sealed. The platform's owner approves it. From {MOVE_DELAY} seconds after the approval on, an authorization of
 * the enclave at the ledger carries it out. The lost wallet can end the move by an objection until its last part is carried out.
 *
 * A wallet has one move at a time. A move needs the admin, the new wallet, the owner and the enclave; the lost wallet can stop all of
 * them within the delay.
 */
interface IAccountMoves {
    /**
     * @notice A move that was proposed and has not ended. `effectiveAt` is zero until the owner approves it. `hasBegun` is true once a
     * part of the portfolio has moved, also in an earlier move between the two wallets that was withdrawn before its last part.
     * `userPubKey` is empty until the new wallet accepts.
     */
    struct Move {
        bytes32 orgId;
        address to;
        uint64 effectiveAt;
        bool hasBegun;
        bytes userPubKey;
    }

    /// @notice The institution's admin proposed to move the portfolio of `from` to `to`.
    event MoveProposed(bytes32 indexed orgId, address indexed from, address indexed to);

    /// @notice `to` accepted the move, with the public key that its portfolio is to be sealed to.
    event MoveAccepted(address indexed from, address indexed to, bytes userPubKey);

    /// @notice The owner approved the move, which can be carried out from `effectiveAt` on.
    event MoveApproved(address indexed from, address indexed to, uint64 effectiveAt);

    /// @notice `by` ended the move: the lost wallet, by an objection or by entering an institution; its institution's admin; or the owner.
    event MoveWithdrawn(address indexed from, address indexed to, address by);

    /// @notice No move of `from` to `to` is proposed, nor can the caller propose one.
    error NoMove(address from, address to);

    /// @notice A move of `from` to `to` is proposed already.
    error MoveProposedAlready(address from, address to);

    /// @notice `caller` cannot end the move of `from`.
    error NotMovesParty(address from, address caller);

    /// @notice A part of the portfolio is sealed to the accepted key already.
    error MoveBegun(address from, address to);

    /// @notice The authorization was computed for another approval of the move, or another public key.
    error MoveConflict(address from, address to);

    /// @notice A public key has 33 bytes, not `length`.
    error InvalidPublicKey(uint256 length);

    /// @notice The new wallet has not accepted the move, or the owner has approved it already.
    error MoveNotApprovable(address from, address to);

    /// @notice The move can be carried out from `effectiveAt` on (zero: it is not approved); the block's time is `currentTime`.
    error MoveNotEffective(address from, uint64 effectiveAt, uint256 currentTime);

    /// @notice The wallet `to` has a portfolio of its own, or its move has begun and this is its first part once more.
    error MoveOutOfOrder(address from, address to);

    /// @notice `caller` is not the ledger.
    error NotLedger(address expected, address caller);

    /// @notice Seconds between the owner's approval of a move and its effect.
    function MOVE_DELAY() external view returns (uint64);

    /// @notice The only contract that may call {takeMove}.
    function ledger() external view returns (address);

    /// @notice The move of a wallet's portfolio; all zero if there is none.
    function moveOf(address from) external view returns (Move memory);

    /**
     * @notice Proposes to move the portfolio of `from` to `to`. Propose it before the lost wallet is removed from the institution.
     *
     * Requirements:
     * - the caller is the admin of an institution that the platform admits, and `from` is in it;
     * - `to` is another wallet, not zero, and in no institution or in this one;
     * - no move of `from` is proposed.
     *
     * Emits {MoveProposed}.
     */
    function proposeMove(address from, address to) external;

    /**
     * @notice Accepts a move to the caller. Can be repeated with another key until a part has moved.
     *
     * Requirements:
     * - a move of `from` to the caller is proposed;
     * - `userPubKey` has 33 bytes. Whether it is a point on secp256k1 is for the enclave;
     * - no part has moved since an earlier acceptance.
     *
     * Emits {MoveAccepted}.
     */
    function acceptMove(address from, bytes calldata userPubKey) external;

    /**
     * @notice Approves a move, which then can be carried out after {MOVE_DELAY}. The owner answers for `to` being a wallet of the person
     * who held `from`.
     *
     * Requirements:
     * - the caller is the platform's owner;
     * - a move of `from` to `to` is proposed, `to` has accepted it, and it is not approved;
     * - the platform admits the institution that proposed it.
     *
     * Emits {MoveApproved}.
     */
    function approveMove(address from, address to) external;

    /**
     * @notice Ends a move: the objection of the lost wallet, or a withdrawal. What has moved stays moved, and a later move between the
     * two wallets continues it. It also ends when the lost wallet enters an institution, by {IInstitutionRegistry-join} or otherwise.
     *
     * Requirements:
     * - a move of `from` is proposed;
     * - the caller is `from`, the present admin of the institution that proposed it, or the platform's owner.
     *
     * Emits {MoveWithdrawn}.
     */
    function withdrawMove(address from) external;

    /**
     * @notice Records that the ledger carries out a part of a move. The last part ends the move.
     *
     * Requirements:
     * - the caller is the ledger;
     * - a move of `from` to `to` is approved, and {MOVE_DELAY} has passed since;
     * - `effectiveAt` is the move's, and `userPubKeyHash` is keccak256 of its `userPubKey`;
     * - the platform admits the institution that proposed it;
     * - neither wallet is in another institution;
     * - `isFirst`, whether `to` has no portfolio yet, is true for the first part and for no other.
     */
    function takeMove(
        address from,
        address to,
        uint64 effectiveAt,
        bytes32 userPubKeyHash,
        bool isFirst,
        bool isLast
    ) external;
}
