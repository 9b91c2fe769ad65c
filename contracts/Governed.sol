// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IAuthority} from "./interfaces/IAuthority.sol";
import {IGoverned} from "./interfaces/IGoverned.sol";

/// @title See {IGoverned}.
abstract contract Governed is IGoverned {
    /// @inheritdoc IGoverned
    IAuthority public immutable authority;

    constructor(IAuthority authority_) {
        authority = authority_;
    }

    modifier onlyOwner() {
        authority.requireOwner(msg.sender);
        _;
    }
}
