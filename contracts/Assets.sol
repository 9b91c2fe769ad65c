// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {Errors} from "./Errors.sol";

/**
 * @title Assets and institutions by name, as bytes32: `USDC`, an equity's symbol, an institution's id.
 *
 * @dev A name is 1 to 31 printable ASCII characters (0x20 to 0x7e, no space at either end), left-aligned, padded with
 * zeros. Each name has exactly one encoding, so no look-alike can differ in invisible bytes alone.
 */
library Assets {
    /// @dev The name of USDC in orders, payouts and claims, so no equity may have it.
    bytes32 internal constant USDC = "USDC";

    /// @dev Reverts with {Errors-InvalidName} unless `name` is well formed.
    function requireName(bytes32 name) internal pure {
        uint256 length = 0;
        while (length < 32 && name[length] != 0) {
            require(name[length] >= 0x20 && name[length] <= 0x7e, Errors.InvalidName(name));
            length++;
        }
        require(length > 0 && length < 32, Errors.InvalidName(name));
        require(name[0] != 0x20 && name[length - 1] != 0x20, Errors.InvalidName(name));
        // All bytes after the first zero byte must be zero.
        require(uint256(name) << (8 * length) == 0, Errors.InvalidName(name));
    }
}
