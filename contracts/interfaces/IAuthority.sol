// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {ISweepable} from "./ISweepable.sol";

/**
 * @title The platform's roles: the owner, the guardian and the enclave's signer.
 *
 * @dev The contracts that it governs name it by their immutable `authority`. It holds no money.
 *
 * - A rotation takes effect automatically, {rotationDelay} seconds after the owner schedules it. Until then it is
 * public on chain and the owner can withdraw it. So the thief of an owner's key cannot name a signer and empty the pool
 * at once. Only a first signer, where the deployment names none, is in force at once: no authorization could take
 * effect before.
 * - The guardian can pause and revoke a measurement at once, and can do nothing else. A pause ends automatically after {maxPause} seconds.
 * - {rotationDelay} < {maxPause}: the owner can replace a leaked signer before the pause ends.
 * - {maxPause} < {RECLAIM_DELAY}: a pause ends before an account may reclaim an order whose deadline was still ahead
 *   when the pause began. An order already stuck past its deadline can become reclaimable during the pause, and any order
 *   during pauses that follow each other: {pause} says when they may.
 */
interface IAuthority is ISweepable {
    /// @notice The roles that the owner rotates.
    enum Role {
        OWNER,
        GUARDIAN,
        SIGNER
    }

    /**
     * @notice What a signer's key was born in: digests of the measured program and of its public configuration. Both are zero for
     * a signer that is not attested. Nothing on chain enforces them: clients compare them with the enclave's evidence.
     */
    struct Program {
        bytes32 measurement;
        bytes32 config;
    }

    /// @notice `to` holds the role from `effectiveAt` on. Replaces a pending rotation of the role. The digests are of the signer's
    /// {Program}, and zero for the other roles.
    event RotationScheduled(
        Role indexed role,
        address indexed from,
        address indexed to,
        uint64 effectiveAt,
        bytes32 measurement,
        bytes32 config
    );

    /// @notice The guardian revoked a measurement, for good.
    event MeasurementRevoked(bytes32 indexed measurement);

    /// @notice The pending rotation of the role was withdrawn: its holder stays.
    event RotationWithdrawn(Role indexed role);

    /// @notice Openings and authorizations are refused until `until`.
    event Paused(uint64 until);

    /// @notice The owner ended the pause early.
    event PauseLifted();

    /// @notice `caller` is not the owner.
    error NotOwner(address expected, address caller);

    /// @notice `caller` is not the guardian.
    error NotGuardian(address expected, address caller);

    /// @notice The platform is paused until `until`.
    error PlatformPaused(uint64 until);

    /// @notice The platform is not paused.
    error NotPaused();

    /// @notice The guardian can pause from `availableAt` on; the block's time is `currentTime`.
    error PauseTooEarly(uint256 availableAt, uint256 currentTime);

    /// @notice The delays must satisfy rotation delay < longest pause < reclaim delay.
    error DelaysOutOfOrder(uint64 rotationDelay, uint64 maxPause, uint64 reclaimDelay);

    /// @notice One of a program's digests is zero, and the other is not.
    error IncompleteProgram(bytes32 measurement, bytes32 config);

    /// @notice The guardian has revoked the measurement.
    error RevokedMeasurement(bytes32 measurement);

    /// @notice No rotation of the role is pending.
    error NoRotation(Role role);

    /// @notice Seconds after its deadline at which an account may reclaim its order.
    function RECLAIM_DELAY() external view returns (uint64);

    /// @notice Seconds that must pass after a pause that nobody lifted before the next one.
    function PAUSE_INTERVAL() external view returns (uint64);

    /// @notice Seconds between a rotation and its effect.
    function rotationDelay() external view returns (uint64);

    /// @notice Seconds that a pause lasts.
    function maxPause() external view returns (uint64);

    /// @notice Whether the guardian has revoked a measurement: no client may trust a program that has it.
    function isRevoked(bytes32 measurement) external view returns (bool);

    /**
     * @notice Schedules a new owner, effective after {rotationDelay}. Replaces a pending rotation of the owner.
     *
     * Requirements:
     * - the caller is the owner;
     * - `to` is not zero.
     *
     * Emits {RotationScheduled}.
     */
    function rotateOwner(address to) external;

    /**
     * @notice Schedules a new guardian, effective after {rotationDelay}. Replaces a pending rotation of the guardian.
     *
     * Requirements:
     * - the caller is the owner;
     * - `to` is not zero.
     *
     * Emits {RotationScheduled}.
     */
    function rotateGuardian(address to) external;

    /**
     * @notice Schedules a new enclave signer, effective after {rotationDelay}, or at once while there is none. Authorizations
     *   of the former signer that were not relayed by then become void. Replaces a pending rotation of the signer.
     *
     * Requirements:
     * - the caller is the owner;
     * - `to` is not zero;
     * - `measurement` and `config` are both zero, for a signer that is not attested, or neither is;
     * - `measurement` is not revoked.
     *
     * Emits {RotationScheduled}.
     */
    function rotateSigner(address to, bytes32 measurement, bytes32 config) external;

    /**
     * @notice Withdraws a rotation that has not taken effect.
     *
     * Requirements:
     * - the caller is the owner;
     * - a rotation of the role is pending.
     *
     * Emits {RotationWithdrawn}.
     */
    function withdrawRotation(Role role) external;

    /**
     * @notice Revokes a measurement at once and for good: no rotation to it can be scheduled, and no client may trust a program
     *   that has it. The signer in force stays, and a rotation that is pending takes effect unless the owner withdraws it.
     *
     * Requirements:
     * - the caller is the guardian;
     * - `measurement` is not zero.
     *
     * Emits {MeasurementRevoked}.
     */
    function revokeMeasurement(bytes32 measurement) external;

    /**
     * @notice Refuses order openings and the enclave's authorizations for {maxPause} seconds.
     *
     * Requirements:
     * - the caller is the guardian;
     * - a rotation of the signer is pending; or else no pause is in force, and {PAUSE_INTERVAL} has passed since the end
     *   of the last one, unless the owner lifted that.
     *
     * Emits {Paused}.
     */
    function pause() external;

    /**
     * @notice Ends a pause early. The guardian can pause again at once.
     *
     * Requirements:
     * - the caller is the owner;
     * - the platform is paused.
     *
     * Emits {PauseLifted}.
     */
    function liftPause() external;

    /// @notice The address that sets flags, admits institutions, enters corporate actions, approves moves and recipients of claims,
    /// moves the treasury, rotates the roles and lifts a pause.
    function owner() external view returns (address);

    /// @notice The address that can pause and revoke a measurement.
    function guardian() external view returns (address);

    /// @notice The address whose signature authorizes settlements, refunds, writes and batches. Zero before the first one is
    /// named: no signature recovers to it.
    function enclaveSigner() external view returns (address);

    /// @notice The program of {enclaveSigner}; zero for a signer that is not attested.
    function signerProgram() external view returns (Program memory);

    /// @notice The program of the pending rotation of the signer; zero if none is pending, or if the next one is not attested.
    function pendingProgram() external view returns (Program memory program);

    /// @notice The role passes to `to` at `effectiveAt` (Unix seconds); both are zero if no rotation is pending.
    function pendingRotation(Role role) external view returns (address to, uint64 effectiveAt);

    /// @notice Unix seconds at which the pause ends; 0 if the platform is not paused.
    function pausedUntil() external view returns (uint64);

    /// @notice Reverts with {NotOwner} unless `caller` is the owner.
    function requireOwner(address caller) external view;

    /// @notice Reverts with {PlatformPaused} while the platform is paused.
    function requireNotPaused() external view;

    /// @notice The enclave's signer. Reverts with {PlatformPaused} while the platform is paused.
    function activeSigner() external view returns (address);
}
