// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

import {Errors} from "./Errors.sol";
import {Sweepable} from "./Sweepable.sol";
import {IAuthority} from "./interfaces/IAuthority.sol";

/// @title See {IAuthority}.
contract Authority is IAuthority, Sweepable {
    /// @dev The holder of a role, and the next one from `effectiveAt` on (0: no rotation was scheduled).
    struct Holder {
        address current;
        uint64 effectiveAt;
        address next;
    }

    /// @inheritdoc IAuthority
    uint64 public constant RECLAIM_DELAY = 7 days;

    /// @inheritdoc IAuthority
    uint64 public constant PAUSE_INTERVAL = 30 days;

    /// @inheritdoc IAuthority
    uint64 public immutable rotationDelay;

    /// @inheritdoc IAuthority
    uint64 public immutable maxPause;

    mapping(Role role => Holder) private _holders;

    /// @dev Of the signer's current and next holder.
    Program private _program;

    Program private _nextProgram;

    /// @inheritdoc IAuthority
    mapping(bytes32 measurement => bool) public isRevoked;

    /// @dev The end of the last pause; 0 if there was none, or if it was lifted.
    uint64 private _pausedUntil;

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
        // Zero: an attested signer is born after the deployment.
        _holders[Role.SIGNER].current = signer_;
    }

    modifier onlyOwner() {
        requireOwner(msg.sender);
        _;
    }

    modifier onlyGuardian() {
        require(msg.sender == guardian(), NotGuardian(guardian(), msg.sender));
        _;
    }

    /// @inheritdoc IAuthority
    function rotateOwner(address to) external onlyOwner {
        _rotate(Role.OWNER, to, Program(0, 0));
    }

    /// @inheritdoc IAuthority
    function rotateGuardian(address to) external onlyOwner {
        _rotate(Role.GUARDIAN, to, Program(0, 0));
    }

    /// @inheritdoc IAuthority
    function rotateSigner(address to, bytes32 measurement, bytes32 config) external onlyOwner {
        require((measurement == 0) == (config == 0), IncompleteProgram(measurement, config));
        require(!isRevoked[measurement], RevokedMeasurement(measurement));
        _program = signerProgram();
        _nextProgram = Program(measurement, config);
        _rotate(Role.SIGNER, to, _nextProgram);
    }

    /// @inheritdoc IAuthority
    function withdrawRotation(Role role) external onlyOwner {
        (, uint64 effectiveAt) = pendingRotation(role);
        require(effectiveAt != 0, NoRotation(role));
        _appoint(role, _holder(role));
        emit RotationWithdrawn(role);
    }

    /// @inheritdoc IAuthority
    function revokeMeasurement(bytes32 measurement) external onlyGuardian {
        require(measurement != 0, IncompleteProgram(0, 0));
        isRevoked[measurement] = true;
        emit MeasurementRevoked(measurement);
    }

    /// @inheritdoc IAuthority
    function pause() external onlyGuardian {
        (, uint64 rotatesAt) = pendingRotation(Role.SIGNER);
        uint256 availableAt = _pausedUntil == 0 || rotatesAt != 0 ? 0 : uint256(_pausedUntil) + PAUSE_INTERVAL;
        require(block.timestamp >= availableAt, PauseTooEarly(availableAt, block.timestamp));
        _pausedUntil = uint64(block.timestamp) + maxPause;
        emit Paused(_pausedUntil);
    }

    /// @inheritdoc IAuthority
    function liftPause() external onlyOwner {
        require(block.timestamp < _pausedUntil, NotPaused());
        _pausedUntil = 0;
        emit PauseLifted();
    }

    /// @inheritdoc IAuthority
    function owner() public view returns (address) {
        return _holder(Role.OWNER);
    }

    /// @inheritdoc IAuthority
    function guardian() public view returns (address) {
        return _holder(Role.GUARDIAN);
    }

    /// @inheritdoc IAuthority
    function enclaveSigner() public view returns (address) {
        return _holder(Role.SIGNER);
    }

    /// @inheritdoc IAuthority
    function signerProgram() public view returns (Program memory) {
        return _isRotated(_holders[Role.SIGNER]) ? _nextProgram : _program;
    }

    /// @inheritdoc IAuthority
    function pendingProgram() external view returns (Program memory program) {
        (, uint64 effectiveAt) = pendingRotation(Role.SIGNER);
        if (effectiveAt != 0) program = _nextProgram;
    }

    /// @inheritdoc IAuthority
    function pendingRotation(Role role) public view returns (address to, uint64 effectiveAt) {
        Holder storage holder = _holders[role];
        return block.timestamp < holder.effectiveAt ? (holder.next, holder.effectiveAt) : (address(0), uint64(0));
    }

    /// @inheritdoc IAuthority
    function pausedUntil() public view returns (uint64) {
        return block.timestamp < _pausedUntil ? _pausedUntil : 0;
    }

    /// @inheritdoc IAuthority
    function requireOwner(address caller) public view {
        require(caller == owner(), NotOwner(owner(), caller));
    }

    /// @inheritdoc IAuthority
    function requireNotPaused() public view {
        require(block.timestamp >= _pausedUntil, PlatformPaused(_pausedUntil));
    }

    /// @inheritdoc IAuthority
    function activeSigner() external view returns (address) {
        requireNotPaused();
        return enclaveSigner();
    }

    function _rotate(Role role, address to, Program memory program) private {
        require(to != address(0), Errors.ZeroAddress());
        address from = _holder(role);
        // Nobody has trusted a signer before the first one.
        uint64 effectiveAt = uint64(block.timestamp) + (from == address(0) ? 0 : rotationDelay);
        _holders[role] = Holder(from, effectiveAt, to);
        emit RotationScheduled(role, from, to, effectiveAt, program.measurement, program.config);
    }

    function _appoint(Role role, address holder) private {
        require(holder != address(0), Errors.ZeroAddress());
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
