// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// @title The errors that several contracts share. An interface has those of its contract alone.
library Errors {
    /// @notice `name` is not 1 to 31 printable ASCII characters, left-aligned and zero-padded, or has a space
    /// at one of its ends.
    error InvalidName(bytes32 name);

    /// @notice The platform does not admit the institution. Zero: the wallet is in no institution.
    error NotAdmitted(bytes32 orgId);

    /// @notice The wallet has not passed KYC.
    error NotCleared(address wallet);

    /// @notice `caller` is not the escrow.
    error NotEscrow(address expected, address caller);

    /// @notice An address that must not be zero is zero.
    error ZeroAddress();

    /// @notice An amount that must not be zero is zero.
    error ZeroAmount();
}
