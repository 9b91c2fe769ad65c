// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {Authority} from "./Authority.sol";

/// @title Base of the five contracts: the authority that governs them.
abstract contract Governed {
    /// @notice The platform's owner, guardian and enclave signer.
    Authority public immutable authority;

    constructor(Authority authority_) {
        authority = authority_;
    }

    modifier onlyOwner() {
        authority.requireOwner(msg.sender);
        _;
    }
}
