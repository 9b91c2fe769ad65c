// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

import {Authority} from "./Authority.sol";
import {Governed} from "./Governed.sol";
import {Names} from "./Names.sol";
import {Sweepable} from "./Sweepable.sol";

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
contract InstitutionRegistry is Governed, Sweepable {
    /// @notice The longest that {leaveDelay} may be, in seconds.
    uint64 public constant MAX_LEAVE_DELAY = 30 days;

    /// @notice Seconds between {leaveInstitution} and its effect.
    uint64 public immutable leaveDelay;

    /// @notice The admin of an institution, zero if none was admitted under this name.
    mapping(bytes32 orgId => address) public adminOf;

    /// @notice Whether the platform's owner admits the institution: its members may buy, and its rulebook is published.
    mapping(bytes32 orgId => bool) public isAdmitted;

    /// @notice The institution that a wallet has founded and that has not been admitted, zero if there is none.
    mapping(address wallet => bytes32) public foundingOf;

    /// @notice The address proposed as next admin, zero if there is none.
    mapping(bytes32 orgId => address) public pendingAdminOf;

    /// @notice The number of an institution's active members, without its admin and members who are leaving.
    mapping(bytes32 orgId => uint256) public walletCount;

    /// @notice The institution that last invited the wallet; zero if it withdrew the invitation, or if the wallet has
    /// entered an institution since.
    mapping(address wallet => bytes32) public invitationOf;

    /// @notice Whether the wallet may {join} the institution. A later invitation by another institution does not end
    /// this one; otherwise an admin could block others' invitations.
    mapping(bytes32 orgId => mapping(address wallet => bool)) public isInvited;

    /// @notice Unix seconds at which the wallet's departure takes or took effect; zero if it did not leave.
    mapping(address wallet => uint64) public leavingAt;

    /// @dev The institution of {orgOf}, also after the wallet's departure has taken effect.
    mapping(address wallet => bytes32) private _orgOf;

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

    /// @notice The platform does not admit the institution. Zero: the wallet is in no institution.
    error NotAdmitted(bytes32 orgId);

    /// @notice The wallet leaves its institution at `effectiveAt`.
    error Leaving(address wallet, uint64 effectiveAt);

    /// @notice The admin of an institution must hand over before leaving it.
    error AdminCannotLeave(bytes32 orgId);

    /// @notice The leave delay may be `longest` seconds at most.
    error LeaveDelayTooLong(uint64 leaveDelay, uint64 longest);

    constructor(Authority authority_, IERC20 usdc_, address pool_, uint64 leaveDelay_)
        Governed(authority_)
        Sweepable(usdc_, pool_)
    {
        require(leaveDelay_ <= MAX_LEAVE_DELAY, LeaveDelayTooLong(leaveDelay_, MAX_LEAVE_DELAY));
        leaveDelay = leaveDelay_;
    }

    /**
     * @notice Founds an institution; the caller becomes its admin when the platform admits it. Replaces an earlier
     * founding by the caller. Others may found one of the same name until one is admitted.
     *
     * Requirements:
     * - `orgId` is a well-formed name (see {Names}) and belongs to no institution;
     * - the caller is in no institution.
     *
     * Emits {InstitutionRegistered}.
     */
    function registerInstitution(bytes32 orgId) external {
        Names.check(orgId);
        require(adminOf[orgId] == address(0), InstitutionTaken(orgId, adminOf[orgId]));
        _requireInNone(msg.sender);
        foundingOf[msg.sender] = orgId;
        emit InstitutionRegistered(orgId, msg.sender);
    }

    /**
     * @notice Admits an institution, or suspends it. The first admission makes its founder the admin.
     *
     * Requirements:
     * - the caller is the platform's owner;
     * - admitting: `admin` is the institution's admin or, while it has none, has founded it and is in no institution;
     * - suspending: `admin` is the institution's admin.
     */
    function setAdmitted(bytes32 orgId, address admin, bool admitted) external onlyOwner {
        address current = adminOf[orgId];
        if (current == address(0)) {
            require(admitted, NotAdmitted(orgId));
            require(foundingOf[admin] == orgId && orgId != bytes32(0), NotFounded(orgId, admin));
            _requireInNone(admin);
            adminOf[orgId] = admin;
            _enter(orgId, admin);
        } else {
            require(current == admin, InstitutionTaken(orgId, current));
        }
        if (isAdmitted[orgId] == admitted) return;
        isAdmitted[orgId] = admitted;
        emit AdmissionUpdated(orgId, admin, admitted);
    }

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
    function setMember(address wallet, bool member) external {
        bytes32 orgId = _orgOfAdmin();
        if (member) {
            _requireInNone(wallet);
            isInvited[orgId][wallet] = true;
            invitationOf[wallet] = orgId;
        } else if (orgOf(wallet) == orgId && wallet != msg.sender) {
            if (leavingAt[wallet] == 0) walletCount[orgId]--;
            leavingAt[wallet] = 0;
            _orgOf[wallet] = bytes32(0);
            _withdrawProposal(orgId, wallet);
        } else {
            require(isInvited[orgId][wallet], NotMember(orgId, wallet));
            _useInvitation(orgId, wallet);
            _withdrawProposal(orgId, wallet);
        }
        emit MemberUpdated(orgId, wallet, false);
    }

    /**
     * @notice Accepts an invitation: the caller becomes an active member.
     *
     * Requirements:
     * - the caller is in no institution;
     * - the institution has invited it.
     *
     * Emits {MemberUpdated} with `active` true.
     */
    function join(bytes32 orgId) external {
        _requireInNone(msg.sender);
        require(isInvited[orgId][msg.sender], NotInvited(orgId, msg.sender));
        walletCount[orgId]++;
        _enter(orgId, msg.sender);
        emit MemberUpdated(orgId, msg.sender, true);
    }

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
    function leaveInstitution() external {
        bytes32 orgId = orgOf(msg.sender);
        require(orgId != bytes32(0), NotMember(orgId, msg.sender));
        require(adminOf[orgId] != msg.sender, AdminCannotLeave(orgId));
        _requireStaying(msg.sender);
        leavingAt[msg.sender] = uint64(block.timestamp) + leaveDelay;
        walletCount[orgId]--;
        _withdrawProposal(orgId, msg.sender);
        emit MemberUpdated(orgId, msg.sender, false);
    }

    /**
     * @notice Proposes the next admin of the caller's institution. Replaces an earlier proposal; the zero
     * address withdraws it.
     *
     * Requirements:
     * - the caller is an admin;
     * - `to` is not the caller, and in no institution or a member of this one that is not leaving.
     */
    function transferAdmin(address to) external {
        bytes32 orgId = _orgOfAdmin();
        require(to != msg.sender, AlreadyInInstitution(to, orgId));
        if (orgOf(to) == orgId) _requireStaying(to);
        else _requireInNone(to);
        pendingAdminOf[orgId] = to;
        emit AdminProposed(orgId, msg.sender, to);
    }

    /**
     * @notice Takes over as admin. The former admin stays, as an active member whom the new admin may remove.
     *
     * Requirements:
     * - the caller is the proposed admin;
     * - the caller is in no institution, or a member of this one.
     *
     * Emits {MemberUpdated} for each wallet whose counting changes, then {AdminTransferred}.
     */
    function acceptAdmin(bytes32 orgId) external {
        require(pendingAdminOf[orgId] == msg.sender, NotPendingAdmin(orgId, pendingAdminOf[orgId], msg.sender));
        address from = adminOf[orgId];
        pendingAdminOf[orgId] = address(0);
        adminOf[orgId] = msg.sender;
        if (orgOf(msg.sender) == orgId) {
            emit MemberUpdated(orgId, msg.sender, false);
        } else {
            _requireInNone(msg.sender);
            _enter(orgId, msg.sender);
            walletCount[orgId]++;
        }
        // In both cases the count now includes the former admin: as an additional member, or in the new admin's place.
        emit MemberUpdated(orgId, from, true);
        emit AdminTransferred(orgId, from, msg.sender);
    }

    /// @notice The wallet's institution, as admin or member (a leaving member until its departure takes effect);
    /// zero if it has none.
    function orgOf(address wallet) public view returns (bytes32) {
        uint64 effectiveAt = leavingAt[wallet];
        return effectiveAt != 0 && block.timestamp >= effectiveAt ? bytes32(0) : _orgOf[wallet];
    }

    /**
     * @notice The institution in which a wallet may buy.
     *
     * Requirements:
     * - the wallet is in an institution that the platform admits, and is not leaving it.
     */
    function buyerOrgOf(address wallet) external view returns (bytes32 orgId) {
        orgId = orgOf(wallet);
        require(isAdmitted[orgId], NotAdmitted(orgId));
        _requireStaying(wallet);
    }

    function _enter(bytes32 orgId, address wallet) private {
        _orgOf[wallet] = orgId;
        leavingAt[wallet] = 0;
        foundingOf[wallet] = bytes32(0);
        isInvited[orgId][wallet] = false;
        invitationOf[wallet] = bytes32(0);
    }

    function _useInvitation(bytes32 orgId, address wallet) private {
        isInvited[orgId][wallet] = false;
        if (invitationOf[wallet] == orgId) invitationOf[wallet] = bytes32(0);
    }

    function _withdrawProposal(bytes32 orgId, address wallet) private {
        if (pendingAdminOf[orgId] != wallet) return;
        pendingAdminOf[orgId] = address(0);
        emit AdminProposed(orgId, adminOf[orgId], address(0));
    }

    function _requireInNone(address wallet) private view {
        require(orgOf(wallet) == bytes32(0), AlreadyInInstitution(wallet, orgOf(wallet)));
    }

    function _requireStaying(address wallet) private view {
        require(leavingAt[wallet] == 0, Leaving(wallet, leavingAt[wallet]));
    }

    function _orgOfAdmin() private view returns (bytes32 orgId) {
        orgId = orgOf(msg.sender);
        require(orgId != bytes32(0) && adminOf[orgId] == msg.sender, NotAdmin(msg.sender));
    }
}
