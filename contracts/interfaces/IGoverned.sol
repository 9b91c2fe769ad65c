// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IAuthority} from "./IAuthority.sol";

/// @title Base of every contract that the {IAuthority} governs.
interface IGoverned {
    /// @notice The platform's owner, guardian and enclave signer.
    function authority() external view returns (IAuthority);
}
