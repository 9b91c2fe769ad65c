// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";

import {Governed} from "./Governed.sol";
import {IAuthority} from "./interfaces/IAuthority.sol";
import {IEnclaveAuthorized} from "./interfaces/IEnclaveAuthorized.sol";

/// @title See {IEnclaveAuthorized}.
abstract contract EnclaveAuthorized is IEnclaveAuthorized, EIP712, Governed {
    /// @inheritdoc IEnclaveAuthorized
    mapping(bytes32 digest => bool) public usedDigest;

    constructor(string memory name, IAuthority authority_) EIP712(name, "1") Governed(authority_) {}

    /**
     * @dev Marks the digest as used. Runs first in each authorized function, and checks {usedDigest} first: a replay
     *   always reverts with {DigestUsed}, regardless of later changes.
     *
     * Requirements, in this order:
     * - the digest was not used before;
     * - the platform is not paused;
     * - `signature` is the enclave signer's over `digest`.
     */
    function _authorize(bytes32 digest, bytes calldata signature) internal {
        require(!usedDigest[digest], DigestUsed(digest));
        address signer = authority.activeSigner();
        // Never zero, which is the signer while there is none: it reverts where `ecrecover` recovers nobody.
        address got = ECDSA.recoverCalldata(digest, signature);
        require(got == signer, InvalidSigner(signer, got));
        usedDigest[digest] = true;
    }
}
