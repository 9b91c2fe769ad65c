// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";

/**
 * @title An owner who hands over in two steps and cannot walk away.
 *
 * @dev The owner rotates the enclave's signer and sets the compliance flags. A contract without an
 * owner could never do either again, so {renounceOwnership} is closed.
 */
abstract contract Owned is Ownable2Step {
    /// @notice Ownership is handed over, never given up.
    error RenounceDisabled();

    constructor(address owner_) Ownable(owner_) {}

    /// @notice Always reverts with {RenounceDisabled}.
    function renounceOwnership() public pure override {
        revert RenounceDisabled();
    }
}
