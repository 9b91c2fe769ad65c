// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {Names} from "./Names.sol";

/**
 * @title Institutions, their admins and their member wallets.
 *
 * @dev A wallet is in at most one institution, as its admin or as a member. A member enters in two steps
 * (the admin invites, the wallet joins) and only the admin takes it out: a wallet that could leave by itself
 * would escape the trading restrictions that its institution puts on it. For the same reason an admin who hands
 * over stays as a member.
 *
 * The contract has no owner: nobody but an institution's admin changes it.
 */
contract InstitutionRegistry {
    /// @notice The admin of an institution, zero when it is not registered.
    mapping(bytes32 orgId => address) public adminOf;

    /// @notice The address proposed as next admin, zero when there is none.
    mapping(bytes32 orgId => address) public pendingAdminOf;

    /// @notice The institution that a wallet is in, as admin or active member; zero when in none.
    mapping(address wallet => bytes32) public orgOf;

    /// @notice How many active members an institution has. Its admin is not counted.
    mapping(bytes32 orgId => uint256) public walletCount;

    /// @notice The institution that invited the wallet last, zero when that invitation is used or withdrawn.
    mapping(address wallet => bytes32) public invitationOf;

    /// @notice Whether the wallet may {join} the institution. A later invitation by another institution does
    /// not end this one: otherwise anyone could found an institution and block others' invitations.
    mapping(bytes32 orgId => mapping(address wallet => bool)) public isInvited;

    /// @notice An institution was founded by `admin`.
    event InstitutionRegistered(bytes32 indexed orgId, address indexed admin);

    /// @notice `to` has taken over as admin. The proposal before it emits nothing.
    event AdminTransferred(bytes32 indexed orgId, address indexed from, address indexed to);

    /// @notice A wallet's membership changed. `active` is whether it is now an active, counted member: false
    /// when invited, when an invitation is withdrawn, when removed and when a member becomes the admin;
    /// true when it joins and when an admin who handed over becomes a member.
    event MemberUpdated(bytes32 indexed orgId, address indexed wallet, bool active);

    /// @notice The institution exists already, under `admin`.
    error InstitutionTaken(bytes32 orgId, address admin);

    /// @notice The wallet is already in an institution (maybe this one).
    error AlreadyInInstitution(address wallet, bytes32 orgId);

    /// @notice The caller is not the admin of any institution.
    error NotAdmin(address caller);

    /// @notice The wallet is neither a member of the institution nor invited by it.
    error NotMember(bytes32 orgId, address wallet);

    /// @notice The institution has not invited the wallet.
    error NotInvited(bytes32 orgId, address wallet);

    /// @notice `caller` is not the proposed admin `pending`.
    error NotPendingAdmin(bytes32 orgId, address pending, address caller);

    /**
     * @notice Founds an institution; the caller becomes its admin.
     *
     * Requirements:
     * - `orgId` is a well-formed name (see {Names}) and not registered;
     * - the caller is in no institution.
     *
     * Emits {InstitutionRegistered}.
     */
    function registerInstitution(bytes32 orgId) external {
        Names.check(orgId);
        require(adminOf[orgId] == address(0), InstitutionTaken(orgId, adminOf[orgId]));
        _requireInNone(msg.sender);
        adminOf[orgId] = msg.sender;
        _enter(orgId, msg.sender);
        emit InstitutionRegistered(orgId, msg.sender);
    }

    /**
     * @notice Invites a wallet into the caller's institution, or takes it out.
     *
     * With `member` false it ends an active membership, or withdraws an invitation; either way a
     * proposal of the wallet as next admin is withdrawn too.
     *
     * Requirements:
     * - the caller is an admin;
     * - inviting: the wallet is in no institution (inviting it again is allowed);
     * - taking out: the wallet is a member of the caller's institution or invited by it.
     *
     * Emits {MemberUpdated} with `active` false.
     */
    function setMember(address wallet, bool member) external {
        bytes32 orgId = _orgOfAdmin();
        if (member) {
            _requireInNone(wallet);
            isInvited[orgId][wallet] = true;
            invitationOf[wallet] = orgId;
        } else if (orgOf[wallet] == orgId && wallet != msg.sender) {
            orgOf[wallet] = bytes32(0);
            walletCount[orgId]--;
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
     * @notice Proposes the next admin of the caller's institution. Replaces an earlier proposal; the zero
     * address withdraws it.
     *
     * Requirements:
     * - the caller is an admin;
     * - `to` is not the caller, and in no institution or a member of this one.
     */
    function transferAdmin(address to) external {
        bytes32 orgId = _orgOfAdmin();
        require(to != msg.sender, AlreadyInInstitution(to, orgId));
        if (orgOf[to] != orgId) _requireInNone(to);
        pendingAdminOf[orgId] = to;
    }

    /**
     * @notice Takes over as admin. The former admin stays, as an active member whom the new admin may remove.
     *
     * Requirements:
     * - the caller is the proposed admin;
     * - the caller is in no institution or a member of this one.
     *
     * Emits {MemberUpdated} for each wallet that begins or ceases to be counted, then {AdminTransferred}.
     */
    function acceptAdmin(bytes32 orgId) external {
        require(pendingAdminOf[orgId] == msg.sender, NotPendingAdmin(orgId, pendingAdminOf[orgId], msg.sender));
        address from = adminOf[orgId];
        pendingAdminOf[orgId] = address(0);
        adminOf[orgId] = msg.sender;
        if (orgOf[msg.sender] == orgId) {
            emit MemberUpdated(orgId, msg.sender, false);
        } else {
            _requireInNone(msg.sender);
            _enter(orgId, msg.sender);
            walletCount[orgId]++;
        }
        // Either way the count includes the former admin: as one more, or in the new admin's place.
        emit MemberUpdated(orgId, from, true);
        emit AdminTransferred(orgId, from, msg.sender);
    }

    function _enter(bytes32 orgId, address wallet) private {
        orgOf[wallet] = orgId;
        isInvited[orgId][wallet] = false;
        invitationOf[wallet] = bytes32(0);
    }

    function _useInvitation(bytes32 orgId, address wallet) private {
        isInvited[orgId][wallet] = false;
        if (invitationOf[wallet] == orgId) invitationOf[wallet] = bytes32(0);
    }

    function _withdrawProposal(bytes32 orgId, address wallet) private {
        if (pendingAdminOf[orgId] == wallet) pendingAdminOf[orgId] = address(0);
    }

    function _requireInNone(address wallet) private view {
        require(orgOf[wallet] == bytes32(0), AlreadyInInstitution(wallet, orgOf[wallet]));
    }

    function _orgOfAdmin() private view returns (bytes32 orgId) {
        orgId = orgOf[msg.sender];
        require(orgId != bytes32(0) && adminOf[orgId] == msg.sender, NotAdmin(msg.sender));
    }
}
