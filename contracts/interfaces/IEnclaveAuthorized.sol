// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IGoverned} from "./IGoverned.sol";

/**
 * @title Base of the three contracts that take enclave authorizations: checks the signature, and each digest once.
 *
 * @dev The enclave holds a signing key and no gas. It signs EIP-712 authorizations in the domain
 * `{name: <contract name>, version: "1", chainId, verifyingContract}`. Anyone may submit an authorization,
 * and each digest takes effect once. Signatures are 65 bytes (r ‖ s ‖ v), low-s, v 27 or 28.
 *
 * The signer is {IAuthority-enclaveSigner}. A digest stays used across a rotation. Authorizations of the former key that
 * were not relayed before the rotation took effect are void.
 */
interface IEnclaveAuthorized is IGoverned {
    /// @notice The signature recovers to `got`, not to the enclave's signer `expected`, which is zero before the first one.
    error InvalidSigner(address expected, address got);

    /// @notice The authorization with this digest has already taken effect.
    error DigestUsed(bytes32 digest);

    /// @notice Whether the authorization with this EIP-712 digest has taken effect.
    function usedDigest(bytes32 digest) external view returns (bool);
}
