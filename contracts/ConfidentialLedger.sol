// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

import {CodeStorage} from "./CodeStorage.sol";
import {CorporateActions} from "./CorporateActions.sol";
import {EnclaveAuthorized} from "./EnclaveAuthorized.sol";
import {Errors} from "./Errors.sol";
import {Sweepable} from "./Sweepable.sol";
import {Words} from "./Words.sol";
import {IAuthority} from "./interfaces/IAuthority.sol";
import {IConfidentialLedger} from "./interfaces/IConfidentialLedger.sol";
import {ICorporateActions} from "./interfaces/ICorporateActions.sol";
import {IEquityToken} from "./interfaces/IEquityToken.sol";
import {IInstitutionRegistry} from "./interfaces/IInstitutionRegistry.sol";
import {IOrderEscrow} from "./interfaces/IOrderEscrow.sol";

/// @title See {IConfidentialLedger}.
contract ConfidentialLedger is IConfidentialLedger, EnclaveAuthorized, Sweepable {
    using CodeStorage for address[];

    /// @dev The words of the enclave's blob, then those of the employee's, begin at {_wordsOf}. Lengths beside the version save each
    /// write two slots.
    struct Portfolio {
        bytes32 hash;
        uint64 version;
        uint64 enclaveLength;
        uint64 userLength;
    }

    /// @dev A rulebook of which parts are there. It counts while `version` is {policyVersion} + 1.
    struct PendingPolicy {
        address admin;
        uint64 version;
        uint8 parts;
        uint8 next;
        bytes32 digest;
        bytes32 running;
    }

    bytes32 private constant PORTFOLIO_UPDATE_TYPEHASH = keccak256(
        "PortfolioUpdate(bytes32 orderId,address account,bytes32 asset,uint256 amount,bytes32 commit,uint8 state,uint64 version,bytes32 previous,bytes32 actions,bytes enclaveBlob,bytes userBlob)"
    );
    bytes32 private constant PORTFOLIO_MOVE_TYPEHASH = keccak256(
        "PortfolioMove(address from,address to,uint64 effectiveAt,bytes32 userPubKeyHash,uint64 partsLeft,uint64 version,bytes32 previous,bytes32 actions,bytes enclaveBlob,bytes userBlob,uint64 toVersion,bytes32 toPrevious,bytes toEnclaveBlob,bytes toUserBlob)"
    );
    bytes32 private constant POLICY_UPDATE_TYPEHASH = keccak256(
        "PolicyUpdate(bytes32 orgId,address admin,uint64 version,uint8 part,uint8 parts,bytes32 digest,bytes policyBlob)"
    );

    /// @inheritdoc IConfidentialLedger
    IOrderEscrow public immutable escrow;

    /// @inheritdoc IConfidentialLedger
    IInstitutionRegistry public immutable registry;

    /// @inheritdoc IConfidentialLedger
    ICorporateActions public immutable actions;

    mapping(bytes32 accountId => Portfolio) private _portfolios;

    /// @inheritdoc IConfidentialLedger
    mapping(bytes32 orgId => bytes32) public policyDigest;

    /// @inheritdoc IConfidentialLedger
    mapping(bytes32 orgId => uint64) public policyVersion;

    mapping(bytes32 orgId => PendingPolicy) private _pending;

    /// @dev Of even and of odd versions: parts gather beside the rulebook in force, and nothing moves when they are whole.
    mapping(bytes32 orgId => address[][2]) private _chunks;

    constructor(
        IAuthority authority_,
        IERC20 usdc_,
        address pool_,
        IOrderEscrow escrow_,
        IInstitutionRegistry registry_,
        IEquityToken token_
    ) EnclaveAuthorized("ConfidentialLedger", authority_) Sweepable(usdc_, pool_) {
        escrow = escrow_;
        registry = registry_;
        actions = new CorporateActions(authority_, token_);
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
            authorization.actions,
            authorization.enclaveBlob,
            authorization.userBlob
        );
    }

    /// @inheritdoc IConfidentialLedger
    function movePortfolio(PortfolioMove calldata a, bytes calldata signature) external {
        _authorize(hashPortfolioMove(a), signature);
        registry.takeMove(a.from, a.to, a.effectiveAt, a.userPubKeyHash, a.toVersion == 1, a.partsLeft == 0);
        require(escrow.token().isKyc(a.to), Errors.NotCleared(a.to));
        uint256 open = escrow.openOrdersBy(a.from);
        require(open == 0, OrdersOpen(a.from, open));
        _writePortfolio(_accountId(a.from), a.version, a.previous, a.actions, a.enclaveBlob, a.userBlob);
        _writePortfolio(_accountId(a.to), a.toVersion, a.toPrevious, a.actions, a.toEnclaveBlob, a.toUserBlob);
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
        _writePart(authorization);
    }

    /// @inheritdoc IConfidentialLedger
    function writePortfolio(
        bytes32 accountId,
        uint64 version,
        bytes32 previous,
        bytes32 actions_,
        bytes calldata enclaveBlob_,
        bytes calldata userBlob_
    ) external {
        require(msg.sender == address(escrow), Errors.NotEscrow(address(escrow), msg.sender));
        _writePortfolio(accountId, version, previous, actions_, enclaveBlob_, userBlob_);
    }

    /// @inheritdoc IConfidentialLedger
    function policyBlob(bytes32 orgId) external view returns (bytes memory) {
        return _chunksOf(orgId, policyVersion[orgId]).read();
    }

    /// @inheritdoc IConfidentialLedger
    function pendingPolicyBlob(bytes32 orgId) external view returns (bytes memory) {
        uint64 version = policyVersion[orgId] + 1;
        return _pending[orgId].version == version ? _chunksOf(orgId, version).read() : bytes("");
    }

    /// @inheritdoc IConfidentialLedger
    function requirePortfolio(bytes32 accountId, uint64 version, bytes32 hash) external view {
        Portfolio storage portfolio = _portfolios[accountId];
        _requireVersion(portfolio.version, version);
        _requireHistory(portfolio.hash, hash);
    }

    /// @inheritdoc IConfidentialLedger
    function enclaveBlob(bytes32 accountId) external view returns (bytes memory) {
        Portfolio storage portfolio = _portfolios[accountId];
        return Words.read(_wordsOf(portfolio), portfolio.enclaveLength);
    }

    /// @inheritdoc IConfidentialLedger
    function userBlob(bytes32 accountId) external view returns (bytes memory) {
        Portfolio storage portfolio = _portfolios[accountId];
        uint256 enclaveWords = Math.ceilDiv(portfolio.enclaveLength, 32);
        return Words.read(_wordsOf(portfolio) + enclaveWords, portfolio.userLength);
    }

    /// @inheritdoc IConfidentialLedger
    function portfolioVersion(bytes32 accountId) external view returns (uint64) {
        return _portfolios[accountId].version;
    }

    /// @inheritdoc IConfidentialLedger
    function portfolioHash(bytes32 accountId) external view returns (bytes32) {
        return _portfolios[accountId].hash;
    }

    /// @inheritdoc IConfidentialLedger
    function hashPortfolioUpdate(PortfolioUpdate calldata a) public view returns (bytes32) {
        // Encodes in two halves to stay within the EVM's stack limit.
        bytes memory order =
            abi.encode(PORTFOLIO_UPDATE_TYPEHASH, a.orderId, a.account, a.asset, a.amount, a.commit, a.state);
        bytes memory write = abi.encode(a.version, a.previous, a.actions, keccak256(a.enclaveBlob), keccak256(a.userBlob));
        return _hashTypedDataV4(keccak256(bytes.concat(order, write)));
    }

    /// @inheritdoc IConfidentialLedger
    function hashPortfolioMove(PortfolioMove calldata a) public view returns (bytes32) {
        bytes memory move =
            abi.encode(PORTFOLIO_MOVE_TYPEHASH, a.from, a.to, a.effectiveAt, a.userPubKeyHash, a.partsLeft);
        bytes memory from = abi.encode(a.version, a.previous, a.actions, keccak256(a.enclaveBlob), keccak256(a.userBlob));
        bytes memory to =
            abi.encode(a.toVersion, a.toPrevious, keccak256(a.toEnclaveBlob), keccak256(a.toUserBlob));
        return _hashTypedDataV4(keccak256(bytes.concat(move, from, to)));
    }

    /// @inheritdoc IConfidentialLedger
    function hashPolicyUpdate(PolicyUpdate calldata a) public view returns (bytes32) {
        return _hashTypedDataV4(
            keccak256(
                abi.encode(
                    POLICY_UPDATE_TYPEHASH,
                    a.orgId,
                    a.admin,
                    a.version,
                    a.part,
                    a.parts,
                    a.digest,
                    keccak256(a.policyBlob)
                )
            )
        );
    }

    /// @dev The caller has checked who may write it, and its version.
    function _writePart(PolicyUpdate calldata a) private {
        PendingPolicy storage pending = _pending[a.orgId];
        address[] storage chunks = _chunksOf(a.orgId, a.version);
        uint8 next;
        bytes32 running;
        if (a.part == 0) {
            while (chunks.length > 0) chunks.pop();
        } else if (
            pending.version == a.version && pending.admin == a.admin && pending.parts == a.parts
                && pending.digest == a.digest
        ) {
            (next, running) = (pending.next, pending.running);
        }
        require(a.part == next && a.part < a.parts, PartConflict(next, a.part));
        chunks.append(a.policyBlob);
        running = keccak256(abi.encode(running, keccak256(a.policyBlob)));
        if (a.part + 1 < a.parts) {
            _pending[a.orgId] = PendingPolicy(a.admin, a.version, a.parts, a.part + 1, a.digest, running);
            return;
        }
        require(running == a.digest, DigestConflict(a.digest, running));
        policyVersion[a.orgId] = a.version;
        policyDigest[a.orgId] = running;
        emit PolicyUpdated(a.orgId, a.version);
    }

    function _chunksOf(bytes32 orgId, uint64 version) private view returns (address[] storage) {
        return _chunks[orgId][version % 2];
    }

    function _writePortfolio(
        bytes32 accountId,
        uint64 version,
        bytes32 previous,
        bytes32 actions_,
        bytes calldata enclaveBlob_,
        bytes calldata userBlob_
    ) private {
        require(enclaveBlob_.length > 0 && userBlob_.length > 0, EmptyBlob());
        actions.requirePrefix(actions_);
        Portfolio storage portfolio = _portfolios[accountId];
        _requireVersion(portfolio.version + 1, version);
        _requireHistory(portfolio.hash, previous);
        portfolio.hash = keccak256(abi.encode(previous, version, keccak256(enclaveBlob_), keccak256(userBlob_)));
        (portfolio.version, portfolio.enclaveLength, portfolio.userLength) =
            (version, uint64(enclaveBlob_.length), uint64(userBlob_.length));
        Words.write(Words.write(_wordsOf(portfolio), enclaveBlob_), userBlob_);
        emit PortfolioUpdated(accountId, version);
    }

    /// @dev The first slot of the blobs' words, where Solidity would put an array's.
    function _wordsOf(Portfolio storage portfolio) private pure returns (uint256) {
        bytes32 slot;
        assembly ("memory-safe") {
            slot := portfolio.slot
        }
        return uint256(keccak256(abi.encode(slot)));
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
