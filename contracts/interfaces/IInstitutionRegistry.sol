// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IAccountMoves} from "./IAccountMoves.sol";
import {IGoverned} from "./IGoverned.sol";
import {ISweepable} from "./ISweepable.sol";

/**
 * @title Institutions, their admins and their member wallets.
 *
 * @dev Anyone may found an institution, but founding costs the platform no gas and reserves no name: the
 * platform's owner admits one founder per name, who thereby becomes the institution's admin. The owner can suspend an
 * institution later; its members can still sell and withdraw.
 *
 * A wallet is in at most one institution, as its admin or as a member. A member enters in two steps (the admin
 * invites, the wallet joins). The admin can remove it at once. It can leave on its own, which takes effect after
 * {leaveDelay} seconds; until then it cannot buy. A wallet that could leave at once would escape the trading
 * restrictions of its institution. An admin who hands over stays as a member for the same reason.
 */
interface IInstitutionRegistry is IAccountMoves, IGoverned, ISweepable {
    /// @notice What a wallet is to one institution. An admin is a member; a leaving one is until its departure takes effect.
    enum Membership {
        NONE,
        INVITED,
        MEMBER,
        LEAVING
    }

    /// @notice `admin` founded an institution, which the platform may admit.
    event InstitutionRegistered(bytes32 indexed orgId, address indexed admin);

    /// @notice The platform's owner admits the institution of `admin`, or no longer does.
    event AdmissionUpdated(bytes32 indexed orgId, address indexed admin, bool admitted);

    /// @notice `to` may take over from `from`; zero: nobody may any more.
    event AdminProposed(bytes32 indexed orgId, address indexed from, address indexed to);

    /// @notice `to` took over as admin.
    event AdminTransferred(bytes32 indexed orgId, address indexed from, address indexed to);

    /// @notice A wallet's membership changed. `active` is whether it is now an active, counted member:
    /// - false if it was invited or removed, its invitation was withdrawn, it starts to leave, or becomes the admin;
    /// - true if it joins, or is an admin who handed over.
    event MemberUpdated(bytes32 indexed orgId, address indexed wallet, bool active);

    /// @notice The name belongs to the institution of `admin`.
    error InstitutionTaken(bytes32 orgId, address admin);

    /// @notice The wallet is already in an institution, possibly this one.
    error AlreadyInInstitution(address wallet, bytes32 orgId);

    /// @notice The caller is not the admin of any institution.
    error NotAdmin(address caller);

    /// @notice The wallet is neither a member of the institution nor invited by it.
    error NotMember(bytes32 orgId, address wallet);

    /// @notice The institution has not invited the wallet.
    error NotInvited(bytes32 orgId, address wallet);

    /// @notice `caller` is not the proposed admin `pending`.
    error NotPendingAdmin(bytes32 orgId, address pending, address caller);

    /// @notice The wallet has founded no institution of this name.
    error NotFounded(bytes32 orgId, address wallet);

    /// @notice The wallet leaves its institution at `effectiveAt`.
    error Leaving(address wallet, uint64 effectiveAt);

    /// @notice The admin of an institution must hand over before leaving it.
    error AdminCannotLeave(bytes32 orgId);

    /// @notice The leave delay may be `longest` seconds at most.
    error LeaveDelayTooLong(uint64 leaveDelay, uint64 longest);

    /// @notice The longest that {leaveDelay} may be, in seconds.
    function MAX_LEAVE_DELAY() external view returns (uint64);

    /// @notice Seconds between {leaveInstitution} and its effect.
    function leaveDelay() external view returns (uint64);

    /// @notice The admin of an institution, zero if none was admitted under this name.
    function adminOf(bytes32 orgId) external view returns (address);

    /// @notice Whether the platform's owner admits the institution: its members may buy, and its rulebook is published.
    function isAdmitted(bytes32 orgId) external view returns (bool);

    /// @notice The institution that a wallet has founded and that has not been admitted, zero if there is none.
    function foundingOf(address wallet) external view returns (bytes32);

    /// @notice The address proposed as next admin, zero if there is none.
    function pendingAdminOf(bytes32 orgId) external view returns (address);

    /// @notice The number of an institution's active members, without its admin and members who are leaving.
    function walletCount(bytes32 orgId) external view returns (uint256);

    /// @notice The institution that last invited the wallet; zero if it withdrew the invitation, or if the wallet has
    /// entered an institution since.
    function invitationOf(address wallet) external view returns (bytes32);

    /// @notice Whether the wallet may {join} the institution. A later invitation by another institution does not end
    /// this one; otherwise an admin could block others' invitations.
    function isInvited(bytes32 orgId, address wallet) external view returns (bool);

    /// @notice Unix seconds at which the wallet's departure takes or took effect; zero if it did not leave.
    function leavingAt(address wallet) external view returns (uint64);

    /**
     * @notice Founds an institution; the caller becomes its admin when the platform admits it. Replaces an earlier
     * founding by the caller. Others may found one of the same name until one is admitted.
     *
     * Requirements:
     * - `orgId` is a well-formed name (see {Assets}) and belongs to no institution;
     * - the caller is in no institution.
     *
     * Emits {InstitutionRegistered}.
     */
    function registerInstitution(bytes32 orgId) external;

    /**
     * @notice Admits an institution, or suspends it. The first admission makes its founder the admin.
     *
     * Requirements:
     * - the caller is the platform's owner;
     * - admitting: `admin` is the institution's admin or, while it has none, has founded it and is in no institution;
     * - suspending: `admin` is the institution's admin.
     */
    function setAdmitted(bytes32 orgId, address admin, bool admitted) external;

    /**
     * @notice Invites a wallet into the caller's institution, or removes it.
     *
     * With `member` false it ends a membership at once (a leaving one too), or withdraws an invitation; either way a
     * proposal of the wallet as next admin is withdrawn too.
     *
     * Requirements:
     * - the caller is an admin;
     * - inviting: the wallet is in no institution (inviting it again is allowed);
     * - removing: the wallet is a member of the caller's institution or invited by it, and not the caller.
     *
     * Emits {MemberUpdated} with `active` false.
     */
    function setMember(address wallet, bool member) external;

    /**
     * @notice Accepts an invitation: the caller becomes an active member.
     *
     * Requirements:
     * - the caller is in no institution;
     * - the institution has invited it.
     *
     * Emits {MemberUpdated} with `active` true.
     */
    function join(bytes32 orgId) external;

    /**
     * @notice Leaves the institution, effective after {leaveDelay} seconds. Until then the rulebook
     * binds the wallet, and it cannot buy. Neither the wallet nor the admin can defer or cancel it.
     *
     * Requirements:
     * - the caller is a member of an institution, and not its admin;
     * - the caller is not leaving already.
     *
     * Emits {MemberUpdated} with `active` false.
     */
    function leaveInstitution() external;

    /**
     * @notice Proposes the next admin of the caller's institution. Replaces an earlier proposal; the zero
     * address withdraws it.
     *
     * Requirements:
     * - the caller is an admin;
     * - `to` is not the caller, and in no institution or a member of this one that is not leaving.
     */
    function transferAdmin(address to) external;

    /**
     * @notice Takes over as admin. The former admin stays, as an active member whom the new admin may remove.
     *
     * Requirements:
     * - the caller is the proposed admin;
     * - the caller is in no institution, or a member of this one.
     *
     * Emits {MemberUpdated} for each wallet whose counting changes, then {AdminTransferred}.
     */
    function acceptAdmin(bytes32 orgId) external;

    /// @notice The wallet's institution, as admin or member (a leaving member until its departure takes effect);
    /// zero if it has none.
    function orgOf(address wallet) external view returns (bytes32);

    /**
     * @notice The institution in which a wallet may buy.
     *
     * Requirements:
     * - the wallet is in an institution that the platform admits, and is not leaving it.
     */
    function buyerOrgOf(address wallet) external view returns (bytes32 orgId);

    /// @notice What each of the wallets is to the institution now.
    function membershipsOf(bytes32 orgId, address[] calldata wallets) external view returns (Membership[] memory);
}
