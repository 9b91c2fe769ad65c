// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

import {Assets} from "./Assets.sol";
import {Errors} from "./Errors.sol";
import {Governed} from "./Governed.sol";
import {Sweepable} from "./Sweepable.sol";
import {IAccountMoves} from "./interfaces/IAccountMoves.sol";
import {IAuthority} from "./interfaces/IAuthority.sol";
import {IInstitutionRegistry} from "./interfaces/IInstitutionRegistry.sol";

/// @title See {IInstitutionRegistry}.
contract InstitutionRegistry is IInstitutionRegistry, Governed, Sweepable {
    /// @inheritdoc IInstitutionRegistry
    uint64 public constant MAX_LEAVE_DELAY = 30 days;

    /// @inheritdoc IInstitutionRegistry
    uint64 public immutable leaveDelay;

    /// @inheritdoc IInstitutionRegistry
    mapping(bytes32 orgId => address) public adminOf;

    /// @inheritdoc IInstitutionRegistry
    mapping(bytes32 orgId => bool) public isAdmitted;

    /// @inheritdoc IInstitutionRegistry
    mapping(address wallet => bytes32) public foundingOf;

    /// @inheritdoc IInstitutionRegistry
    mapping(bytes32 orgId => address) public pendingAdminOf;

    /// @inheritdoc IInstitutionRegistry
    mapping(bytes32 orgId => uint256) public walletCount;

    /// @inheritdoc IInstitutionRegistry
    mapping(address wallet => bytes32) public invitationOf;

    /// @inheritdoc IInstitutionRegistry
    mapping(bytes32 orgId => mapping(address wallet => bool)) public isInvited;

    /// @inheritdoc IInstitutionRegistry
    mapping(address wallet => uint64) public leavingAt;

    /// @dev The institution of {orgOf}, also after the wallet's departure has taken effect.
    mapping(address wallet => bytes32) private _orgOf;

    /// @inheritdoc IAccountMoves
    uint64 public constant MOVE_DELAY = 7 days;

    /// @inheritdoc IAccountMoves
    address public immutable ledger;

    mapping(address from => Move) private _moves;

    /// @dev Whether a part has moved and others have not: a move that was withdrawn in between can be taken up again.
    mapping(address from => mapping(address to => bool)) private _hasBegun;

    constructor(IAuthority authority_, IERC20 usdc_, address pool_, address ledger_, uint64 leaveDelay_)
        Governed(authority_)
        Sweepable(usdc_, pool_)
    {
        require(leaveDelay_ <= MAX_LEAVE_DELAY, LeaveDelayTooLong(leaveDelay_, MAX_LEAVE_DELAY));
        ledger = ledger_;
        leaveDelay = leaveDelay_;
    }

    /// @inheritdoc IInstitutionRegistry
    function registerInstitution(bytes32 orgId) external {
        Assets.requireName(orgId);
        require(adminOf[orgId] == address(0), InstitutionTaken(orgId, adminOf[orgId]));
        _requireInNone(msg.sender);
        foundingOf[msg.sender] = orgId;
        emit InstitutionRegistered(orgId, msg.sender);
    }

    /// @inheritdoc IInstitutionRegistry
    function setAdmitted(bytes32 orgId, address admin, bool admitted) external onlyOwner {
        address current = adminOf[orgId];
        if (current == address(0)) {
            require(admitted, Errors.NotAdmitted(orgId));
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

    /// @inheritdoc IInstitutionRegistry
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

    /// @inheritdoc IInstitutionRegistry
    function join(bytes32 orgId) external {
        _requireInNone(msg.sender);
        require(isInvited[orgId][msg.sender], NotInvited(orgId, msg.sender));
        walletCount[orgId]++;
        _enter(orgId, msg.sender);
        emit MemberUpdated(orgId, msg.sender, true);
    }

    /// @inheritdoc IInstitutionRegistry
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

    /// @inheritdoc IInstitutionRegistry
    function transferAdmin(address to) external {
        bytes32 orgId = _orgOfAdmin();
        require(to != msg.sender, AlreadyInInstitution(to, orgId));
        if (orgOf(to) == orgId) _requireStaying(to);
        else _requireInNone(to);
        pendingAdminOf[orgId] = to;
        emit AdminProposed(orgId, msg.sender, to);
    }

    /// @inheritdoc IInstitutionRegistry
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

    /// @inheritdoc IInstitutionRegistry
    function orgOf(address wallet) public view returns (bytes32) {
        uint64 effectiveAt = leavingAt[wallet];
        return effectiveAt != 0 && block.timestamp >= effectiveAt ? bytes32(0) : _orgOf[wallet];
    }

    /// @inheritdoc IInstitutionRegistry
    function buyerOrgOf(address wallet) external view returns (bytes32 orgId) {
        orgId = orgOf(wallet);
        require(isAdmitted[orgId], Errors.NotAdmitted(orgId));
        _requireStaying(wallet);
    }

    /// @inheritdoc IInstitutionRegistry
    function membershipsOf(bytes32 orgId, address[] calldata wallets)
        external
        view
        returns (Membership[] memory memberships)
    {
        memberships = new Membership[](wallets.length);
        for (uint256 i = 0; i < wallets.length; i++) {
            address wallet = wallets[i];
            if (orgId != bytes32(0) && orgOf(wallet) == orgId) {
                memberships[i] = leavingAt[wallet] == 0 ? Membership.MEMBER : Membership.LEAVING;
            } else if (isInvited[orgId][wallet]) {
                memberships[i] = Membership.INVITED;
            }
        }
    }

    /// @inheritdoc IAccountMoves
    function proposeMove(address from, address to) external {
        bytes32 orgId = _orgOfAdmin();
        require(isAdmitted[orgId], Errors.NotAdmitted(orgId));
        require(orgOf(from) == orgId, NotMember(orgId, from));
        require(to != address(0) && to != from, NoMove(from, to));
        _requireInNoOther(to, orgId);
        require(_moves[from].to == address(0), MoveProposedAlready(from, _moves[from].to));
        _moves[from] = Move(orgId, to, 0, _hasBegun[from][to], "");
        emit MoveProposed(orgId, from, to);
    }

    /// @inheritdoc IAccountMoves
    function acceptMove(address from, bytes calldata userPubKey) external {
        Move storage move = _findMove(from, msg.sender);
        require(userPubKey.length == 33, InvalidPublicKey(userPubKey.length));
        require(!move.hasBegun || move.userPubKey.length == 0, MoveBegun(from, msg.sender));
        move.userPubKey = userPubKey;
        emit MoveAccepted(from, msg.sender, userPubKey);
    }

    /// @inheritdoc IAccountMoves
    function approveMove(address from, address to) external onlyOwner {
        Move storage move = _findMove(from, to);
        require(move.userPubKey.length > 0 && move.effectiveAt == 0, MoveNotApprovable(from, to));
        require(isAdmitted[move.orgId], Errors.NotAdmitted(move.orgId));
        move.effectiveAt = uint64(block.timestamp) + MOVE_DELAY;
        emit MoveApproved(from, to, move.effectiveAt);
    }

    /// @inheritdoc IAccountMoves
    function withdrawMove(address from) external {
        address admin = adminOf[_findMove(from, _moves[from].to).orgId];
        require(
            msg.sender == from || msg.sender == admin || msg.sender == authority.owner(),
            NotMovesParty(from, msg.sender)
        );
        _endMove(from, msg.sender);
    }

    /// @inheritdoc IAccountMoves
    function takeMove(
        address from,
        address to,
        uint64 effectiveAt,
        bytes32 userPubKeyHash,
        bool isFirst,
        bool isLast
    ) external {
        require(msg.sender == ledger, NotLedger(ledger, msg.sender));
        Move storage move = _findMove(from, to);
        require(
            effectiveAt == move.effectiveAt && userPubKeyHash == keccak256(move.userPubKey), MoveConflict(from, to)
        );
        require(
            effectiveAt != 0 && block.timestamp >= effectiveAt,
            MoveNotEffective(from, effectiveAt, block.timestamp)
        );
        require(isAdmitted[move.orgId], Errors.NotAdmitted(move.orgId));
        _requireInNoOther(from, move.orgId);
        _requireInNoOther(to, move.orgId);
        require(isFirst != move.hasBegun, MoveOutOfOrder(from, to));
        _hasBegun[from][to] = !isLast;
        if (isLast) delete _moves[from];
        else move.hasBegun = true;
    }

    /// @inheritdoc IAccountMoves
    function moveOf(address from) external view returns (Move memory) {
        return _moves[from];
    }

    function _findMove(address from, address to) private view returns (Move storage move) {
        move = _moves[from];
        require(to != address(0) && move.to == to, NoMove(from, to));
    }

    function _requireInNoOther(address wallet, bytes32 orgId) private view {
        bytes32 current = orgOf(wallet);
        require(current == bytes32(0) || current == orgId, AlreadyInInstitution(wallet, current));
    }

    function _endMove(address from, address by) private {
        emit MoveWithdrawn(from, _moves[from].to, by);
        delete _moves[from];
    }

    function _enter(bytes32 orgId, address wallet) private {
        _orgOf[wallet] = orgId;
        leavingAt[wallet] = 0;
        // Its key is not lost.
        if (_moves[wallet].to != address(0)) _endMove(wallet, wallet);
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
