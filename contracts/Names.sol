// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/**
 * @title Names as bytes32: an institution's name or an equity's symbol.
 *
 * @dev 1 to 31 printable ASCII characters (0x20 to 0x7e, no space at either end), left-aligned, padded with
 * zeros. Each name has exactly one encoding, so no look-alike can differ in invisible bytes alone.
 */
library Names {
    /// @notice `name` is not 1 to 31 printable ASCII characters, left-aligned and zero-padded, or has a space
    /// at one of its ends.
    error InvalidName(bytes32 name);

    /// @dev Reverts with {InvalidName} unless `name` is well formed.
    function check(bytes32 name) internal pure {
        uint256 length = 0;
        while (length < 32 && name[length] != 0) {
            require(name[length] >= 0x20 && name[length] <= 0x7e, InvalidName(name));
            length++;
        }
        require(length > 0 && length < 32, InvalidName(name));
        require(name[0] != 0x20 && name[length - 1] != 0x20, InvalidName(name));
        // All bytes after the first zero byte must be zero.
        require(uint256(name) << (8 * length) == 0, InvalidName(name));
    }
}
