// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {EnclaveAuthorized} from "./EnclaveAuthorized.sol";
import {InstitutionRegistry} from "./InstitutionRegistry.sol";

/**
 * @title Versioned ciphertext: each account's portfolio, each institution's rulebook.
 *
 * @dev `accountId = keccak256(abi.encodePacked(account))`. Versions start at 0 (nothing written); a write carries
 * exactly the next version, so one that was computed from an older state is refused.
 */
contract ConfidentialLedger is EnclaveAuthorized {
    /// @notice Authorization to write a portfolio.
    struct PortfolioUpdate {
        bytes32 accountId;
        uint64 version;
        bytes enclaveBlob;
        bytes userBlob;
    }

    /// @notice Authorization to write a rulebook that `admin` published.
    struct PolicyUpdate {
        bytes32 orgId;
        address admin;
        uint64 version;
        bytes policyBlob;
    }

    bytes32 private constant PORTFOLIO_UPDATE_TYPEHASH =
        keccak256("PortfolioUpdate(bytes32 accountId,uint64 version,bytes enclaveBlob,bytes userBlob)");
    bytes32 private constant POLICY_UPDATE_TYPEHASH =
        keccak256("PolicyUpdate(bytes32 orgId,address admin,uint64 version,bytes policyBlob)");

    /// @notice The only contract that may write portfolios as part of its own transactions.
    address public immutable escrow;

    /// @notice Where an institution's admin is looked up.
    InstitutionRegistry public immutable registry;

    /// @notice The portfolio that the enclave reads.
    mapping(bytes32 accountId => bytes) public enclaveBlob;

    /// @notice The same portfolio, sealed to the employee.
    mapping(bytes32 accountId => bytes) public userBlob;

    /// @notice How often the portfolio has been written.
    mapping(bytes32 accountId => uint64) public portfolioVersion;

    /// @notice The institution's rulebook, which only the enclave reads.
    mapping(bytes32 orgId => bytes) public policyBlob;

    /// @notice How often the rulebook has been written.
    mapping(bytes32 orgId => uint64) public policyVersion;

    /// @notice A portfolio was written.
    event PortfolioUpdated(bytes32 indexed accountId, uint64 version);

    /// @notice A rulebook was written.
    event PolicyUpdated(bytes32 indexed orgId, uint64 version);

    /// @notice The write should carry version `expected`, but carries `got`.
    error VersionConflict(uint64 expected, uint64 got);

    /// @notice The institution's admin is `expected` (zero: no such institution), but the rulebook names `got`.
    error NotInstitutionAdmin(bytes32 orgId, address expected, address got);

    /// @notice `caller` is not the escrow.
    error NotEscrow(address expected, address caller);

    /// @notice A blob is empty: writing it would erase what is stored.
    error EmptyBlob();

    constructor(address owner_, address enclaveSigner_, address escrow_, InstitutionRegistry registry_)
        EnclaveAuthorized("ConfidentialLedger", owner_, enclaveSigner_)
    {
        escrow = escrow_;
        registry = registry_;
    }

    /**
     * @notice Writes a portfolio outside of a settlement: an order's write-ahead, or the effect of a reclaimed one.
     *
     * Requirements:
     * - the enclave's signature over the authorization, not used before;
     * - `version` is {portfolioVersion} + 1;
     * - neither blob is empty.
     *
     * Emits {PortfolioUpdated}.
     */
    function updatePortfolio(PortfolioUpdate calldata authorization, bytes calldata signature) external {
        _authorize(hashPortfolioUpdate(authorization), signature);
        _writePortfolio(
            authorization.accountId, authorization.version, authorization.enclaveBlob, authorization.userBlob
        );
    }

    /**
     * @notice Replaces an institution's rulebook wholesale.
     *
     * Requirements:
     * - the enclave's signature over the authorization, not used before;
     * - `admin` is the institution's admin in this very transaction;
     * - `version` is {policyVersion} + 1;
     * - the blob is not empty.
     *
     * Emits {PolicyUpdated}.
     */
    function updatePolicy(PolicyUpdate calldata authorization, bytes calldata signature) external {
        _authorize(hashPolicyUpdate(authorization), signature);
        bytes32 orgId = authorization.orgId;
        address admin = registry.adminOf(orgId);
        require(
            admin != address(0) && admin == authorization.admin,
            NotInstitutionAdmin(orgId, admin, authorization.admin)
        );
        require(authorization.policyBlob.length > 0, EmptyBlob());
        _requireVersion(policyVersion[orgId] + 1, authorization.version);
        policyVersion[orgId] = authorization.version;
        policyBlob[orgId] = authorization.policyBlob;
        emit PolicyUpdated(orgId, authorization.version);
    }

    /**
     * @notice Writes a portfolio as part of a settlement or a refund.
     *
     * Requirements:
     * - the caller is the escrow, which has checked the enclave's signature over these very values;
     * - `version` is {portfolioVersion} + 1;
     * - neither blob is empty.
     *
     * Emits {PortfolioUpdated}.
     */
    function writePortfolio(
        bytes32 accountId,
        uint64 version,
        bytes calldata enclaveBlob_,
        bytes calldata userBlob_
    ) external {
        require(msg.sender == escrow, NotEscrow(escrow, msg.sender));
        _writePortfolio(accountId, version, enclaveBlob_, userBlob_);
    }

    /**
     * @notice Reverts with {VersionConflict} unless the portfolio's current version is `version`. A refund that
     * writes no portfolio calls this, so it is void once the portfolio has changed.
     */
    function requirePortfolioVersion(bytes32 accountId, uint64 version) external view {
        _requireVersion(portfolioVersion[accountId], version);
    }

    /// @notice The EIP-712 digest that the enclave signs for {updatePortfolio}.
    function hashPortfolioUpdate(PortfolioUpdate calldata a) public view returns (bytes32) {
        return _hashTypedDataV4(
            keccak256(
                abi.encode(
                    PORTFOLIO_UPDATE_TYPEHASH,
                    a.accountId,
                    a.version,
                    keccak256(a.enclaveBlob),
                    keccak256(a.userBlob)
                )
            )
        );
    }

    /// @notice The EIP-712 digest that the enclave signs for {updatePolicy}.
    function hashPolicyUpdate(PolicyUpdate calldata a) public view returns (bytes32) {
        return _hashTypedDataV4(
            keccak256(abi.encode(POLICY_UPDATE_TYPEHASH, a.orgId, a.admin, a.version, keccak256(a.policyBlob)))
        );
    }

    function _writePortfolio(
        bytes32 accountId,
        uint64 version,
        bytes calldata enclaveBlob_,
        bytes calldata userBlob_
    ) private {
        require(enclaveBlob_.length > 0 && userBlob_.length > 0, EmptyBlob());
        _requireVersion(portfolioVersion[accountId] + 1, version);
        portfolioVersion[accountId] = version;
        enclaveBlob[accountId] = enclaveBlob_;
        userBlob[accountId] = userBlob_;
        emit PortfolioUpdated(accountId, version);
    }

    function _requireVersion(uint64 expected, uint64 got) private pure {
        require(got == expected, VersionConflict(expected, got));
    }
}
