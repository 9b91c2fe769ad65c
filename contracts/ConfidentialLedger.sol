// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

import {EnclaveAuthorized} from "./EnclaveAuthorized.sol";
import {Errors} from "./Errors.sol";
import {Sweepable} from "./Sweepable.sol";
import {IAuthority} from "./interfaces/IAuthority.sol";
import {IConfidentialLedger} from "./interfaces/IConfidentialLedger.sol";
import {IInstitutionRegistry} from "./interfaces/IInstitutionRegistry.sol";
import {IOrderEscrow} from "./interfaces/IOrderEscrow.sol";

/// @title See {IConfidentialLedger}.
contract ConfidentialLedger is IConfidentialLedger, EnclaveAuthorized, Sweepable {
    bytes32 private constant PORTFOLIO_UPDATE_TYPEHASH = keccak256(
        "PortfolioUpdate(bytes32 orderId,address account,bytes32 asset,uint256 amount,bytes32 commit,uint8 state,uint64 version,bytes32 previous,bytes enclaveBlob,bytes userBlob)"
    );
    bytes32 private constant PORTFOLIO_MOVE_TYPEHASH = keccak256(
        "PortfolioMove(address from,address to,uint64 partsLeft,uint64 version,bytes32 previous,bytes enclaveBlob,bytes userBlob,uint64 toVersion,bytes32 toPrevious,bytes toEnclaveBlob,bytes toUserBlob)"
    );
    bytes32 private constant POLICY_UPDATE_TYPEHASH =
        keccak256("PolicyUpdate(bytes32 orgId,address admin,uint64 version,bytes policyBlob)");

    /// @inheritdoc IConfidentialLedger
    IOrderEscrow public immutable escrow;

    /// @inheritdoc IConfidentialLedger
    IInstitutionRegistry public immutable registry;

    /// @inheritdoc IConfidentialLedger
    mapping(bytes32 accountId => bytes) public enclaveBlob;

    /// @inheritdoc IConfidentialLedger
    mapping(bytes32 accountId => bytes) public userBlob;

    /// @inheritdoc IConfidentialLedger
    mapping(bytes32 accountId => uint64) public portfolioVersion;

    /// @inheritdoc IConfidentialLedger
    mapping(bytes32 accountId => bytes32) public portfolioHash;

    /// @inheritdoc IConfidentialLedger
    mapping(bytes32 orgId => bytes) public policyBlob;

    /// @inheritdoc IConfidentialLedger
    mapping(bytes32 orgId => uint64) public policyVersion;

    constructor(
        IAuthority authority_,
        IERC20 usdc_,
        address pool_,
        IOrderEscrow escrow_,
        IInstitutionRegistry registry_
    ) EnclaveAuthorized("ConfidentialLedger", authority_) Sweepable(usdc_, pool_) {
        escrow = escrow_;
        registry = registry_;
    }

    /// @inheritdoc IConfidentialLedger
    function updatePortfolio(PortfolioUpdate calldata authorization, bytes calldata signature) external {
        _authorize(hashPortfolioUpdate(authorization), signature);
        escrow.requireOrder(
            authorization.orderId,
            authorization.account,
            authorization.asset,
            authorization.amount,
            authorization.commit,
            authorization.state
        );
        _writePortfolio(
            _accountId(authorization.account),
            authorization.version,
            authorization.previous,
            authorization.enclaveBlob,
            authorization.userBlob
        );
    }

    /// @inheritdoc IConfidentialLedger
    function movePortfolio(PortfolioMove calldata a, bytes calldata signature) external {
        _authorize(hashPortfolioMove(a), signature);
        registry.takeMove(a.from, a.to, a.toVersion == 1, a.partsLeft == 0);
        require(escrow.token().isKyc(a.to), Errors.NotCleared(a.to));
        uint256 open = escrow.openOrdersBy(a.from);
        require(open == 0, OrdersOpen(a.from, open));
        _writePortfolio(_accountId(a.from), a.version, a.previous, a.enclaveBlob, a.userBlob);
        _writePortfolio(_accountId(a.to), a.toVersion, a.toPrevious, a.toEnclaveBlob, a.toUserBlob);
        emit PortfolioMoved(a.from, a.to, a.partsLeft);
    }

    /// @inheritdoc IConfidentialLedger
    function updatePolicy(PolicyUpdate calldata authorization, bytes calldata signature) external {
        _authorize(hashPolicyUpdate(authorization), signature);
        bytes32 orgId = authorization.orgId;
        address admin = registry.adminOf(orgId);
        require(
            admin != address(0) && admin == authorization.admin,
            NotInstitutionAdmin(orgId, admin, authorization.admin)
        );
        require(registry.isAdmitted(orgId), Errors.NotAdmitted(orgId));
        require(authorization.policyBlob.length > 0, EmptyBlob());
        _requireVersion(policyVersion[orgId] + 1, authorization.version);
        policyVersion[orgId] = authorization.version;
        policyBlob[orgId] = authorization.policyBlob;
        emit PolicyUpdated(orgId, authorization.version);
    }

    /// @inheritdoc IConfidentialLedger
    function writePortfolio(
        bytes32 accountId,
        uint64 version,
        bytes32 previous,
        bytes calldata enclaveBlob_,
        bytes calldata userBlob_
    ) external {
        require(msg.sender == address(escrow), Errors.NotEscrow(address(escrow), msg.sender));
        _writePortfolio(accountId, version, previous, enclaveBlob_, userBlob_);
    }

    /// @inheritdoc IConfidentialLedger
    function requirePortfolio(bytes32 accountId, uint64 version, bytes32 hash) external view {
        _requireVersion(portfolioVersion[accountId], version);
        _requireHistory(portfolioHash[accountId], hash);
    }

    /// @inheritdoc IConfidentialLedger
    function hashPortfolioUpdate(PortfolioUpdate calldata a) public view returns (bytes32) {
        // Encodes in two halves to stay within the EVM's stack limit.
        bytes memory order =
            abi.encode(PORTFOLIO_UPDATE_TYPEHASH, a.orderId, a.account, a.asset, a.amount, a.commit, a.state);
        bytes memory write = abi.encode(a.version, a.previous, keccak256(a.enclaveBlob), keccak256(a.userBlob));
        return _hashTypedDataV4(keccak256(bytes.concat(order, write)));
    }

    /// @inheritdoc IConfidentialLedger
    function hashPortfolioMove(PortfolioMove calldata a) public view returns (bytes32) {
        bytes memory move = abi.encode(PORTFOLIO_MOVE_TYPEHASH, a.from, a.to, a.partsLeft);
        bytes memory from = abi.encode(a.version, a.previous, keccak256(a.enclaveBlob), keccak256(a.userBlob));
        bytes memory to =
            abi.encode(a.toVersion, a.toPrevious, keccak256(a.toEnclaveBlob), keccak256(a.toUserBlob));
        return _hashTypedDataV4(keccak256(bytes.concat(move, from, to)));
    }

    /// @inheritdoc IConfidentialLedger
    function hashPolicyUpdate(PolicyUpdate calldata a) public view returns (bytes32) {
        return _hashTypedDataV4(
            keccak256(abi.encode(POLICY_UPDATE_TYPEHASH, a.orgId, a.admin, a.version, keccak256(a.policyBlob)))
        );
    }

    function _writePortfolio(
        bytes32 accountId,
        uint64 version,
        bytes32 previous,
        bytes calldata enclaveBlob_,
        bytes calldata userBlob_
    ) private {
        require(enclaveBlob_.length > 0 && userBlob_.length > 0, EmptyBlob());
        _requireVersion(portfolioVersion[accountId] + 1, version);
        _requireHistory(portfolioHash[accountId], previous);
        portfolioVersion[accountId] = version;
        portfolioHash[accountId] =
            keccak256(abi.encode(previous, version, keccak256(enclaveBlob_), keccak256(userBlob_)));
        enclaveBlob[accountId] = enclaveBlob_;
        userBlob[accountId] = userBlob_;
        emit PortfolioUpdated(accountId, version);
    }

    function _requireVersion(uint64 expected, uint64 got) private pure {
        require(got == expected, VersionConflict(expected, got));
    }

    function _requireHistory(bytes32 expected, bytes32 got) private pure {
        require(got == expected, HistoryConflict(expected, got));
    }

    function _accountId(address account) private pure returns (bytes32) {
        return keccak256(abi.encodePacked(account));
    }
}
