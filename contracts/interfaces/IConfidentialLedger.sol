// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {ICorporateActions} from "./ICorporateActions.sol";
import {IEnclaveAuthorized} from "./IEnclaveAuthorized.sol";
import {IInstitutionRegistry} from "./IInstitutionRegistry.sol";
import {IOrderEscrow} from "./IOrderEscrow.sol";
import {ISweepable} from "./ISweepable.sol";

/**
 * @title Versioned ciphertext: each account's portfolio, each institution's rulebook.
 *
 * @dev `accountId = keccak256(abi.encodePacked(account))`. Versions start at 0 (no write yet). A write of a
 * portfolio carries the next version and the running hash of the earlier writes. So the ledger refuses a write computed
 * from an older state, or from a state that a reorganization has replaced.
 *
 * A rulebook comes in parts, because one transaction cannot hold a long one. It takes force with its last part; until
 * then the one before it is in force. It is stored as code (see {CodeStorage}).
 */
interface IConfidentialLedger is IEnclaveAuthorized, ISweepable {
    /**
     * @notice Authorization to write a portfolio outside of a settlement.
     *
     * `orderId` to `commit` describe the write's order as the escrow records it. `state` is the order's required
     * state: OPEN for a write-ahead, REFUNDED for the write after a reclaim. `previous` is {portfolioHash} before the
     * write, `actions` is {ICorporateActions-listHash} of the actions that the portfolio has followed.
     */
    struct PortfolioUpdate {
        bytes32 orderId;
        address account;
        bytes32 asset;
        uint256 amount;
        bytes32 commit;
        IOrderEscrow.State state;
        uint64 version;
        bytes32 previous;
        bytes32 actions;
        bytes enclaveBlob;
        bytes userBlob;
    }

    /**
     * @notice Authorization to write part `part`, counted from zero, of the `parts` of a rulebook that `admin`
     * published. `digest` is {policyDigest} of all of them.
     */
    struct PolicyUpdate {
        bytes32 orgId;
        address admin;
        uint64 version;
        uint8 part;
        uint8 parts;
        bytes32 digest;
        bytes policyBlob;
    }

    /**
     * @notice Authorization to carry out a part of an approved move ({IAccountMoves}): what remains with `from`, and what
     * `to` has afterwards.
     *
     * `effectiveAt` and `userPubKeyHash`, the keccak256 of the new wallet's public key, are those of the approved move: an authorization for
     * a move that was withdrawn is void for a later one.
     *
     * `version` to `userBlob` are the write of `from`, those with `to` the write of the new wallet. Both have followed the same `actions`.
     * `partsLeft` is the number of parts that follow, 0 for the last: a large portfolio moves in several, so that none needs more
     * gas than a transaction may have.
     */
    struct PortfolioMove {
        address from;
        address to;
        uint64 effectiveAt;
        bytes32 userPubKeyHash;
        uint64 partsLeft;
        uint64 version;
        bytes32 previous;
        bytes32 actions;
        bytes enclaveBlob;
        bytes userBlob;
        uint64 toVersion;
        bytes32 toPrevious;
        bytes toEnclaveBlob;
        bytes toUserBlob;
    }

    /// @notice A portfolio was written.
    event PortfolioUpdated(bytes32 indexed accountId, uint64 version);

    /// @notice A rulebook has taken force: its last part was written.
    event PolicyUpdated(bytes32 indexed orgId, uint64 version);

    /// @notice A part of the portfolio of `from` is in that of `to`, and `partsLeft` parts follow. {PortfolioUpdated} of both comes before.
    event PortfolioMoved(address indexed from, address indexed to, uint64 partsLeft);

    /// @notice A portfolio with open orders does not move.
    error OrdersOpen(address account, uint256 open);

    /// @notice The write should carry version `expected`, but carries `got`.
    error VersionConflict(uint64 expected, uint64 got);

    /// @notice The portfolio's running hash is `expected`, but the authorization was computed from `got`.
    error HistoryConflict(bytes32 expected, bytes32 got);

    /// @notice The institution's admin is `expected` (zero: no such institution), but the rulebook names `got`.
    error NotInstitutionAdmin(bytes32 orgId, address expected, address got);

    /// @notice The rulebook's next part is `expected`; zero: none of this rulebook came before.
    error PartConflict(uint8 expected, uint8 got);

    /// @notice The rulebook's parts have the digest `got`, but the authorization names `expected`.
    error DigestConflict(bytes32 expected, bytes32 got);

    /// @notice A blob is empty: writing it would erase what is stored.
    error EmptyBlob();

    /// @notice The escrow of the orders: the only contract that may call {writePortfolio}.
    function escrow() external view returns (IOrderEscrow);

    /// @notice The registry of institutions and their admins.
    function registry() external view returns (IInstitutionRegistry);

    /// @notice The corporate actions, which each write of a portfolio names.
    function actions() external view returns (ICorporateActions);

    /// @notice The portfolio that the enclave reads.
    function enclaveBlob(bytes32 accountId) external view returns (bytes memory);

    /// @notice The same portfolio, sealed to the employee.
    function userBlob(bytes32 accountId) external view returns (bytes memory);

    /// @notice The number of writes of the portfolio.
    function portfolioVersion(bytes32 accountId) external view returns (uint64);

    /**
     * @notice The running hash of all writes of a portfolio, zero before the first. Each write sets it to
     * `keccak256(abi.encode(previous, version, keccak256(enclaveBlob), keccak256(userBlob)))`.
     */
    function portfolioHash(bytes32 accountId) external view returns (bytes32);

    /// @notice The institution's rulebook in force, all of its parts, which only the enclave reads.
    function policyBlob(bytes32 orgId) external view returns (bytes memory);

    /// @notice The parts so far of the institution's next rulebook; empty if there is none.
    function pendingPolicyBlob(bytes32 orgId) external view returns (bytes memory);

    /**
     * @notice The running hash of the parts of the rulebook in force, zero before the first rulebook. Each part sets it
     * to `keccak256(abi.encode(previous, keccak256(policyBlob)))`, where `previous` is zero for the first.
     */
    function policyDigest(bytes32 orgId) external view returns (bytes32);

    /// @notice The number of rulebooks that have taken force.
    function policyVersion(bytes32 orgId) external view returns (uint64);

    /**
     * @notice Writes a portfolio outside of a settlement: an order's write-ahead, or the effect of a reclaimed order.
     *
     * Requirements:
     * - the platform is not paused;
     * - the enclave signed the authorization, and it was not used before;
     * - the escrow's order has the account, asset, amount, commit and state that the authorization names;
     * - `version` is {portfolioVersion} + 1, and `previous` is {portfolioHash};
     * - `actions` is {ICorporateActions-listHash}, or was once;
     * - neither blob is empty.
     *
     * Emits {PortfolioUpdated}.
     */
    function updatePortfolio(PortfolioUpdate calldata authorization, bytes calldata signature) external;

    /**
     * @notice Carries out a part of an approved move: writes both portfolios at once. Shares and claims outside of the portfolio stay
     * where they are.
     *
     * Requirements:
     * - the platform is not paused;
     * - the enclave signed the authorization, and it was not used before;
     * - those of {IAccountMoves-takeMove}: the move is approved, its delay has passed, and nobody has objected; `toVersion` is 1 for the
     *   first part alone, so the new wallet has no portfolio before;
     * - the new wallet has passed KYC, and the lost one has no order open;
     * - of both portfolios, `version` is {portfolioVersion} + 1, and `previous` is {portfolioHash};
     * - `actions` is {ICorporateActions-listHash}, or was once;
     * - no blob is empty.
     *
     * Emits {PortfolioUpdated} for both wallets, then {PortfolioMoved}.
     */
    function movePortfolio(PortfolioMove calldata authorization, bytes calldata signature) external;

    /**
     * @notice Writes a part of an institution's next rulebook. With its last part, it replaces the entire rulebook.
     *
     * A first part discards the stored parts of an unfinished rulebook, and so does a rulebook that takes force. The remaining parts of
     * the discarded one are void: the enclave seals it anew.
     *
     * Requirements:
     * - the platform is not paused;
     * - the enclave signed the authorization, and it was not used before;
     * - `admin` is the institution's current admin, and the platform admits the institution;
     * - `version` is {policyVersion} + 1;
     * - the blob is not empty;
     * - `part` is below `parts`, and is the first or follows the last one of a rulebook with the same admin, number of
     *   parts and digest;
     * - with the last part: the parts have the digest.
     *
     * Emits {PolicyUpdated} with the last part.
     */
    function updatePolicy(PolicyUpdate calldata authorization, bytes calldata signature) external;

    /**
     * @notice Writes a portfolio as part of a settlement or a refund.
     *
     * Requirements:
     * - the caller is the escrow, which has checked the enclave's signature over these values;
     * - `version` is {portfolioVersion} + 1, and `previous` is {portfolioHash};
     * - `actions` is {ICorporateActions-listHash}, or was once;
     * - neither blob is empty.
     *
     * Emits {PortfolioUpdated}.
     */
    function writePortfolio(
        bytes32 accountId,
        uint64 version,
        bytes32 previous,
        bytes32 actions_,
        bytes calldata enclaveBlob_,
        bytes calldata userBlob_
    ) external;

    /**
     * @notice Reverts with {VersionConflict} or {HistoryConflict} unless the portfolio is at `version` and its running
     * hash is `hash`. A refund that writes no portfolio calls this, so it is void once the portfolio has changed.
     */
    function requirePortfolio(bytes32 accountId, uint64 version, bytes32 hash) external view;

    /// @notice The EIP-712 digest that the enclave signs for {updatePortfolio}.
    function hashPortfolioUpdate(PortfolioUpdate calldata a) external view returns (bytes32);

    /// @notice The EIP-712 digest that the enclave signs for {movePortfolio}.
    function hashPortfolioMove(PortfolioMove calldata a) external view returns (bytes32);

    /// @notice The EIP-712 digest that the enclave signs for {updatePolicy}.
    function hashPolicyUpdate(PolicyUpdate calldata a) external view returns (bytes32);
}
