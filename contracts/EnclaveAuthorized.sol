// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";

import {Authority} from "./Authority.sol";
import {Governed} from "./Governed.sol";

/**
 * @title Base of the three contracts that take enclave authorizations: checks the signature, and each digest once.
 *
 * @dev The enclave holds a signing key and no gas. It signs EIP-712 authorizations in the domain
 * `{name: <contract name>, version: "1", chainId, verifyingContract}`. Anyone may submit an authorization,
 * and each digest takes effect once. Signatures are 65 bytes (r ‖ s ‖ v), low-s, v 27 or 28.
 *
 * The signer is {Authority-enclaveSigner}. A digest stays used across a rotation. Authorizations of the former key that
 * were not relayed before the rotation took effect are void.
 */
abstract contract EnclaveAuthorized is EIP712, Governed {
    /// @notice Whether the authorization with this EIP-712 digest has taken effect.
    mapping(bytes32 digest => bool) public usedDigest;

    /// @notice The signature recovers to `got`, not to the enclave's signer `expected`.
    error InvalidSigner(address expected, address got);

    /// @notice The authorization with this digest has already taken effect.
    error DigestUsed(bytes32 digest);

    constructor(string memory name, Authority authority_) EIP712(name, "1") Governed(authority_) {}

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
        address got = ECDSA.recoverCalldata(digest, signature);
        require(got == signer, InvalidSigner(signer, got));
        usedDigest[digest] = true;
    }
}
