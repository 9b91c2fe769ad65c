// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

import {Sweepable} from "./Sweepable.sol";

/**
 * @title The platform's roles: the owner, the guardian and the enclave's signer.
 *
 * @dev The five contracts find this contract by their immutable `authority`. It holds no money.
 *
 * - A rotation takes effect automatically, {rotationDelay} seconds after the owner schedules it. Until then it is
 * public on chain and the owner can withdraw it. So the thief of an owner's key cannot name a signer and empty the pool
 * at once.
 * - The guardian can pause and revoke a measurement at once, and can do nothing else. A pause ends automatically after {maxPause} seconds.
 * - {rotationDelay} < {maxPause}: the owner can replace a leaked signer before the pause ends.
 * - {maxPause} < {RECLAIM_DELAY}: a pause ends before an account may reclaim an order whose deadline was still ahead
 *   when the pause began. An order already stuck past its deadline can become reclaimable during the pause, and any order
 *   during pauses that follow each other: {pause} says when they may.
 */
contract Authority is Sweepable {
    /// @notice The roles that the owner rotates.
    enum Role {
        OWNER,
        GUARDIAN,
        SIGNER
    }

    /// @dev The holder of a role, and the next one from `effectiveAt` on (0: no rotation was scheduled).
    struct Holder {
        address current;
        uint64 effectiveAt;
        address next;
    }

    /**
     * @notice What a signer's key was born in: digests of the measured program and of its public configuration. Both are zero for
     * a signer that is not attested. Nothing on chain enforces them: clients compare them with the enclave's evidence.
     */
    struct Program {
        bytes32 measurement;
        bytes32 config;
    }

    /// @notice Seconds after its deadline at which an account may reclaim its order.
    uint64 public constant RECLAIM_DELAY = 7 days;

    /// @notice Seconds that must pass after a pause that nobody lifted before the next one.
    uint64 public constant PAUSE_INTERVAL = 30 days;

    /// @notice Seconds between a rotation and its effect.
    uint64 public immutable rotationDelay;

    /// @notice Seconds that a pause lasts.
    uint64 public immutable maxPause;

    mapping(Role role => Holder) private _holders;

    /// @dev Of the signer's current and next holder.
    Program private _program;
    Program private _nextProgram;

    /// @notice Whether the guardian has revoked a measurement: no client may trust a program that has it.
    mapping(bytes32 measurement => bool) public isRevoked;

    /// @dev The end of the last pause; 0 if there was none, or if it was lifted.
    uint64 private _pausedUntil;

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

    /// @notice An address that must not be zero is zero.
    error ZeroAddress();

    constructor(
        address owner_,
        address guardian_,
        address signer_,
        uint64 rotationDelay_,
        uint64 maxPause_,
        IERC20 usdc_,
        address pool_
    ) Sweepable(usdc_, pool_) {
        require(
            rotationDelay_ < maxPause_ && maxPause_ < RECLAIM_DELAY,
            DelaysOutOfOrder(rotationDelay_, maxPause_, RECLAIM_DELAY)
        );
        rotationDelay = rotationDelay_;
        maxPause = maxPause_;
        _appoint(Role.OWNER, owner_);
        _appoint(Role.GUARDIAN, guardian_);
        _appoint(Role.SIGNER, signer_);
    }

    modifier onlyOwner() {
        requireOwner(msg.sender);
        _;
    }

    modifier onlyGuardian() {
        require(msg.sender == guardian(), NotGuardian(guardian(), msg.sender));
        _;
    }

    /**
     * @notice Schedules a new owner, effective after {rotationDelay}. Replaces a pending rotation of the owner.
     *
     * Requirements:
     * - the caller is the owner;
     * - `to` is not zero.
     *
     * Emits {RotationScheduled}.
     */
    function rotateOwner(address to) external onlyOwner {
        _rotate(Role.OWNER, to, Program(0, 0));
    }

    /**
     * @notice Schedules a new guardian, effective after {rotationDelay}. Replaces a pending rotation of the guardian.
     *
     * Requirements:
     * - the caller is the owner;
     * - `to` is not zero.
     *
     * Emits {RotationScheduled}.
     */
    function rotateGuardian(address to) external onlyOwner {
        _rotate(Role.GUARDIAN, to, Program(0, 0));
    }

    /**
     * @notice Schedules a new enclave signer, effective after {rotationDelay}. Authorizations of the former signer that
     *   were not relayed by then become void. Replaces a pending rotation of the signer.
     *
     * Requirements:
     * - the caller is the owner;
     * - `to` is not zero;
     * - `measurement` and `config` are both zero, for a signer that is not attested, or neither is;
     * - `measurement` is not revoked.
     *
     * Emits {RotationScheduled}.
     */
    function rotateSigner(address to, bytes32 measurement, bytes32 config) external onlyOwner {
        require((measurement == 0) == (config == 0), IncompleteProgram(measurement, config));
        require(!isRevoked[measurement], RevokedMeasurement(measurement));
        _program = signerProgram();
        _nextProgram = Program(measurement, config);
        _rotate(Role.SIGNER, to, _nextProgram);
    }

    /**
     * @notice Withdraws a rotation that has not taken effect.
     *
     * Requirements:
     * - the caller is the owner;
     * - a rotation of the role is pending.
     *
     * Emits {RotationWithdrawn}.
     */
    function withdrawRotation(Role role) external onlyOwner {
        (, uint64 effectiveAt) = pendingRotation(role);
        require(effectiveAt != 0, NoRotation(role));
        _appoint(role, _holder(role));
        emit RotationWithdrawn(role);
    }

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
    function revokeMeasurement(bytes32 measurement) external onlyGuardian {
        require(measurement != 0, IncompleteProgram(0, 0));
        isRevoked[measurement] = true;
        emit MeasurementRevoked(measurement);
    }

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
    function pause() external onlyGuardian {
        (, uint64 rotatesAt) = pendingRotation(Role.SIGNER);
        uint256 availableAt = _pausedUntil == 0 || rotatesAt != 0 ? 0 : uint256(_pausedUntil) + PAUSE_INTERVAL;
        require(block.timestamp >= availableAt, PauseTooEarly(availableAt, block.timestamp));
        _pausedUntil = uint64(block.timestamp) + maxPause;
        emit Paused(_pausedUntil);
    }

    /**
     * @notice Ends a pause early. The guardian can pause again at once.
     *
     * Requirements:
     * - the caller is the owner;
     * - the platform is paused.
     *
     * Emits {PauseLifted}.
     */
    function liftPause() external onlyOwner {
        require(block.timestamp < _pausedUntil, NotPaused());
        _pausedUntil = 0;
        emit PauseLifted();
    }

    /// @notice The address that sets flags, admits institutions, approves recipients of claims, moves the treasury,
    /// rotates the roles and lifts a pause.
    function owner() public view returns (address) {
        return _holder(Role.OWNER);
    }

    /// @notice The address that can pause.
    function guardian() public view returns (address) {
        return _holder(Role.GUARDIAN);
    }

    /// @notice The address whose signature authorizes settlements, refunds, writes and batches.
    function enclaveSigner() public view returns (address) {
        return _holder(Role.SIGNER);
    }

    /// @notice The program of {enclaveSigner}; zero for a signer that is not attested.
    function signerProgram() public view returns (Program memory) {
        return _isRotated(_holders[Role.SIGNER]) ? _nextProgram : _program;
    }

    /// @notice The program of the pending rotation of the signer; zero if none is pending, or if the next one is not attested.
    function pendingProgram() external view returns (Program memory program) {
        (, uint64 effectiveAt) = pendingRotation(Role.SIGNER);
        if (effectiveAt != 0) program = _nextProgram;
    }

    /// @notice The role passes to `to` at `effectiveAt` (Unix seconds); both are zero if no rotation is pending.
    function pendingRotation(Role role) public view returns (address to, uint64 effectiveAt) {
        Holder storage holder = _holders[role];
        return block.timestamp < holder.effectiveAt ? (holder.next, holder.effectiveAt) : (address(0), uint64(0));
    }

    /// @notice Unix seconds at which the pause ends; 0 if the platform is not paused.
    function pausedUntil() public view returns (uint64) {
        return block.timestamp < _pausedUntil ? _pausedUntil : 0;
    }

    /// @notice Reverts with {NotOwner} unless `caller` is the owner.
    function requireOwner(address caller) public view {
        require(caller == owner(), NotOwner(owner(), caller));
    }

    /// @notice Reverts with {PlatformPaused} while the platform is paused.
    function requireNotPaused() public view {
        require(block.timestamp >= _pausedUntil, PlatformPaused(_pausedUntil));
    }

    /// @notice The enclave's signer. Reverts with {PlatformPaused} while the platform is paused.
    function activeSigner() external view returns (address) {
        requireNotPaused();
        return enclaveSigner();
    }

    function _rotate(Role role, address to, Program memory program) private {
        require(to != address(0), ZeroAddress());
        address from = _holder(role);
        uint64 effectiveAt = uint64(block.timestamp) + rotationDelay;
        _holders[role] = Holder(from, effectiveAt, to);
        emit RotationScheduled(role, from, to, effectiveAt, program.measurement, program.config);
    }

    function _appoint(Role role, address holder) private {
        require(holder != address(0), ZeroAddress());
        _holders[role] = Holder(holder, 0, address(0));
    }

    function _holder(Role role) private view returns (address) {
        Holder storage holder = _holders[role];
        return _isRotated(holder) ? holder.next : holder.current;
    }

    function _isRotated(Holder storage holder) private view returns (bool) {
        return holder.effectiveAt != 0 && block.timestamp >= holder.effectiveAt;
    }
}
