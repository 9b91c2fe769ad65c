// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

import {Authority} from "./Authority.sol";
import {EnclaveAuthorized} from "./EnclaveAuthorized.sol";
import {InstitutionRegistry} from "./InstitutionRegistry.sol";
import {OrderEscrow} from "./OrderEscrow.sol";
import {Sweepable} from "./Sweepable.sol";

/**
 * @title Versioned ciphertext: each account's portfolio, each institution's rulebook.
 *
 * @dev `accountId = keccak256(abi.encodePacked(account))`. Versions start at 0 (no write yet). A write of a
 * portfolio carries the next version and the running hash of the earlier writes. So the ledger refuses a write computed
 * from an older state, or from a state that a reorganization has replaced.
 */
contract ConfidentialLedger is EnclaveAuthorized, Sweepable {
    /**
     * @notice Authorization to write a portfolio outside of a settlement.
     *
     * `orderId` to `commit` describe the write's order as the escrow records it. `state` is the order's required
     * state: OPEN for a write-ahead, REFUNDED for the write after a reclaim. `previous` is {portfolioHash} before the
     * write.
     */
    struct PortfolioUpdate {
        bytes32 orderId;
        address account;
        bytes32 asset;
        uint256 amount;
        bytes32 commit;
        OrderEscrow.State state;
        uint64 version;
        bytes32 previous;
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

    bytes32 private constant PORTFOLIO_UPDATE_TYPEHASH = keccak256(
        "PortfolioUpdate(bytes32 orderId,address account,bytes32 asset,uint256 amount,bytes32 commit,uint8 state,uint64 version,bytes32 previous,bytes enclaveBlob,bytes userBlob)"
    );
    bytes32 private constant POLICY_UPDATE_TYPEHASH =
        keccak256("PolicyUpdate(bytes32 orgId,address admin,uint64 version,bytes policyBlob)");

    /// @notice The escrow of the orders: the only contract that may call {writePortfolio}.
    OrderEscrow public immutable escrow;

    /// @notice The registry of institutions and their admins.
    InstitutionRegistry public immutable registry;

    /// @notice The portfolio that the enclave reads.
    mapping(bytes32 accountId => bytes) public enclaveBlob;

    /// @notice The same portfolio, sealed to the employee.
    mapping(bytes32 accountId => bytes) public userBlob;

    /// @notice The number of writes of the portfolio.
    mapping(bytes32 accountId => uint64) public portfolioVersion;

    /**
     * @notice The running hash of all writes of a portfolio, zero before the first. Each write sets it to
     * `keccak256(abi.encode(previous, version, keccak256(enclaveBlob), keccak256(userBlob)))`.
     */
    mapping(bytes32 accountId => bytes32) public portfolioHash;

    /// @notice The institution's rulebook, which only the enclave reads.
    mapping(bytes32 orgId => bytes) public policyBlob;

    /// @notice The number of writes of the rulebook.
    mapping(bytes32 orgId => uint64) public policyVersion;

    /// @notice A portfolio was written.
    event PortfolioUpdated(bytes32 indexed accountId, uint64 version);

    /// @notice A rulebook was written.
    event PolicyUpdated(bytes32 indexed orgId, uint64 version);

    /// @notice The write should carry version `expected`, but carries `got`.
    error VersionConflict(uint64 expected, uint64 got);

    /// @notice The portfolio's running hash is `expected`, but the authorization was computed from `got`.
    error HistoryConflict(bytes32 expected, bytes32 got);

    /// @notice The institution's admin is `expected` (zero: no such institution), but the rulebook names `got`.
    error NotInstitutionAdmin(bytes32 orgId, address expected, address got);

    /// @notice `caller` is not the escrow.
    error NotEscrow(address expected, address caller);

    /// @notice A blob is empty: writing it would erase what is stored.
    error EmptyBlob();

    constructor(
        Authority authority_,
        IERC20 usdc_,
        address pool_,
        OrderEscrow escrow_,
        InstitutionRegistry registry_
    ) EnclaveAuthorized("ConfidentialLedger", authority_) Sweepable(usdc_, pool_) {
        escrow = escrow_;
        registry = registry_;
    }

    /**
     * @notice Writes a portfolio outside of a settlement: an order's write-ahead, or the effect of a reclaimed order.
     *
     * Requirements:
     * - the platform is not paused;
     * - the enclave signed the authorization, and it was not used before;
     * - the escrow's order has the account, asset, amount, commit and state that the authorization names;
     * - `version` is {portfolioVersion} + 1, and `previous` is {portfolioHash};
     * - neither blob is empty.
     *
     * Emits {PortfolioUpdated}.
     */
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
            keccak256(abi.encodePacked(authorization.account)),
            authorization.version,
            authorization.previous,
            authorization.enclaveBlob,
            authorization.userBlob
        );
    }

    /**
     * @notice Replaces an institution's entire rulebook.
     *
     * Requirements:
     * - the platform is not paused;
     * - the enclave signed the authorization, and it was not used before;
     * - `admin` is the institution's current admin, and the platform admits the institution;
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
        require(registry.isAdmitted(orgId), InstitutionRegistry.NotAdmitted(orgId));
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
     * - the caller is the escrow, which has checked the enclave's signature over these values;
     * - `version` is {portfolioVersion} + 1, and `previous` is {portfolioHash};
     * - neither blob is empty.
     *
     * Emits {PortfolioUpdated}.
     */
    function writePortfolio(
        bytes32 accountId,
        uint64 version,
        bytes32 previous,
        bytes calldata enclaveBlob_,
        bytes calldata userBlob_
    ) external {
        require(msg.sender == address(escrow), NotEscrow(address(escrow), msg.sender));
        _writePortfolio(accountId, version, previous, enclaveBlob_, userBlob_);
    }

    /**
     * @notice Reverts with {VersionConflict} or {HistoryConflict} unless the portfolio is at `version` and its running
     * hash is `hash`. A refund that writes no portfolio calls this, so it is void once the portfolio has changed.
     */
    function requirePortfolio(bytes32 accountId, uint64 version, bytes32 hash) external view {
        _requireVersion(portfolioVersion[accountId], version);
        _requireHistory(portfolioHash[accountId], hash);
    }

    /// @notice The EIP-712 digest that the enclave signs for {updatePortfolio}.
    function hashPortfolioUpdate(PortfolioUpdate calldata a) public view returns (bytes32) {
        // Encodes in two halves to stay within the EVM's stack limit.
        bytes memory order =
            abi.encode(PORTFOLIO_UPDATE_TYPEHASH, a.orderId, a.account, a.asset, a.amount, a.commit, a.state);
        bytes memory write = abi.encode(a.version, a.previous, keccak256(a.enclaveBlob), keccak256(a.userBlob));
        return _hashTypedDataV4(keccak256(bytes.concat(order, write)));
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
}
