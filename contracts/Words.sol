// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// @title Bytes in storage without a slot for their length, which the caller keeps beside other values.
library Words {
    /// @dev Writes `data` into the slots from `first` on, and returns the one behind them. What longer data left there stays, unread.
    function write(uint256 first, bytes calldata data) internal returns (uint256 slot) {
        slot = first;
        assembly ("memory-safe") {
            let end := add(data.offset, data.length)
            for { let from := data.offset } lt(from, end) { from := add(from, 32) } {
                sstore(slot, calldataload(from))
                slot := add(slot, 1)
            }
        }
    }

    /// @dev Reads `length` bytes that {write} has written from the slot `first` on.
    function read(uint256 first, uint256 length) internal view returns (bytes memory data) {
        data = new bytes(length);
        assembly ("memory-safe") {
            let slot := first
            let to := add(data, 32)
            for { let end := add(to, length) } lt(to, end) { to := add(to, 32) } {
                mstore(to, sload(slot))
                slot := add(slot, 1)
            }
        }
    }
}
